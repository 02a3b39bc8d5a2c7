// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Testing

/// Entries that a hub does not take.
@Suite struct UnsentTests {
  private let clock = ManualClock()
  private let line: CountedHub
  private let phone: Device
  private let laptop: Device

  init() throws {
    var limits = HubLimits()
    (limits.valueBytes, limits.keyBytes) = (100, 50)
    line = CountedHub(MemoryHub(ReplicaID(rawValue: 9), limits: limits), clock)
    phone = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    laptop = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
  }

  private func set(_ device: Device, _ key: String, _ value: String = "x") throws {
    clock.milliseconds += 1
    try device.write([LocalWrite(store: "cloud", key: key, value: .string(value))])
  }

  private func setLarge(_ device: Device, _ key: String) throws {
    try set(device, key, String(repeating: "x", count: 101))
  }

  @discardableResult
  private func meet(_ device: Device, _ hub: CountedHub? = nil) throws -> MergeReport {
    var generator = SystemRandomNumberGenerator()
    return try Merge.run(device, with: hub ?? line, options: MergeOptions(), using: &generator)
  }

  private func notSent(_ entries: Int, _ key: String) -> [MergeReport.Event] {
    [.notSent(device: 0, entries: entries, store: "cloud", key: key)]
  }

  private func pushes(_ request: HubRequest) -> Bool {
    request.steps.contains { if case .push = $0 { true } else { false } }
  }

  private func keys() -> [String] { line.hub.rows.map(\.entry.address.key.string) }

  @Test(arguments: [false, true])
  func whatAHubDoesNotTakeHoldsNothingUp(hasMet: Bool) throws {
    if hasMet { for _ in 0..<2 { try meet(phone) } }
    let long = String(repeating: "k", count: 51)
    try set(phone, "a")
    try setLarge(phone, "large")
    try set(phone, "b")
    try set(phone, long)
    try set(phone, "c")
    let report = try meet(phone)
    #expect(report.events == notSent(2, "large") && !report.hasConverged)
    #expect(keys() == ["a", "b", "c"])
    #expect(report.transfers.map(\.received) == [3, 0])
    try meet(laptop)
    #expect(try laptop.entry(store: "cloud", key: "c")?.content.value == "x")
  }

  @Test func eachMergeTellsAndNoneTriesAgain() throws {
    try setLarge(phone, "large")
    try set(phone, "b")
    for _ in 0..<2 { try meet(phone) }
    line.requests = []
    let report = try meet(phone)
    #expect(report.events == notSent(1, "large") && !report.hasConverged && !report.isNews)
    #expect(line.requests.count == 1 && !line.requests.contains(where: pushes))
    // Of another process.
    line.lastMet = nil
    #expect(try meet(phone).events == notSent(1, "large"))
    try set(phone, "c")
    #expect(try meet(phone).events == notSent(1, "large"))
    #expect(keys() == ["b", "c"])
  }

  @Test func whatIsWrittenSmallerOrDeletedGoes() throws {
    for key in ["one", "two"] { try setLarge(phone, key) }
    #expect(try meet(phone).events == notSent(2, "one"))
    try set(phone, "one")
    #expect(try meet(phone).events == notSent(1, "two"))
    try phone.write([LocalWrite(store: "cloud", key: "two", value: nil)])
    let report = try meet(phone)
    #expect(report.events == [] && report.hasConverged)
    #expect(keys() == ["one", "two"])
  }

  @Test func aHubThatTakesMoreGetsIt() throws {
    let other = CountedHub(MemoryHub(ReplicaID(rawValue: 8)), clock)
    try setLarge(phone, "large")
    #expect(try meet(phone).events == notSent(1, "large"))
    #expect(try meet(phone, other).hasConverged)
    #expect(other.hub.rows.count == 1)
    #expect(try meet(phone).events == notSent(1, "large"))
  }

  @Test func itIsAConflictThoughTheHubHasSeenLaterWrites() throws {
    for device in [phone, laptop] { try meet(device) }
    try setLarge(phone, "large")
    for key in ["theme", "size"] {
      try set(phone, key)
      try meet(phone)
    }
    for key in ["large", "theme"] { try set(laptop, key, "mine") }
    try meet(laptop)
    let report = try meet(phone)
    #expect(report.conflicts.map(\.conflict.key) == ["large"])
    #expect(try phone.entry(store: "cloud", key: "large")?.content.value == "mine")
    #expect(report.events == [])
    // The other write of the laptop had seen the phone's, or lost to none.
    #expect(try meet(phone).hasConverged)
  }

  @Test func aStoreThatIsNewToTheHubForgetsNothingOfTheOthers() throws {
    for device in [phone, laptop] { try meet(device) }
    try setLarge(phone, "large")
    try set(phone, "theme")
    try meet(phone)
    try phone.write([LocalWrite(store: "cloud:other", key: "k", value: .string("v"))])
    #expect(try meet(phone).events == notSent(1, "large"))
    try meet(laptop)
    try set(laptop, "large", "mine")
    try meet(laptop)
    #expect(try meet(phone).conflicts.map(\.conflict.key) == ["large"])
  }

  /// By a merge of two files, whichever reads first: the laptop knows by the hub that the phone has
  /// written later, and nothing of this.
  @Test(arguments: [false, true])
  func aMergeOfFilesKnowsThatNobodyHasSeenIt(isPhoneFirst: Bool) throws {
    for device in [phone, laptop] { try meet(device) }
    try setLarge(phone, "large")
    try set(phone, "theme")
    for device in [phone, laptop] { try meet(device) }
    for key in ["large", "theme"] { try set(laptop, key, "mine") }
    let devices = isPhoneFirst ? [phone, laptop] : [laptop, phone]
    let report = try devices[0].merge(with: devices[1])
    #expect(report.conflicts.map(\.conflict.key) == ["large"])
    #expect(try [phone, laptop].flatMap { try $0.conflicts() }.map(\.key) == ["large"])
    #expect(try phone.entry(store: "cloud", key: "large")?.content.value == "mine")
  }

  @Test(arguments: [false, true])
  func whoHasReadItFromTheFileHasSeenIt(isPhoneFirst: Bool) throws {
    for device in [phone, laptop] { try meet(device) }
    try setLarge(phone, "large")
    try meet(phone)
    let devices = isPhoneFirst ? [phone, laptop] : [laptop, phone]
    try devices[0].merge(with: devices[1])
    try set(laptop, "large", "mine")
    #expect(try devices[0].merge(with: devices[1]).conflicts.isEmpty)
    #expect(try phone.entry(store: "cloud", key: "large")?.content.value == "mine")
  }

  @Test func aMergeInOneDirectionLogsItOnce() throws {
    for device in [phone, laptop] { try meet(device) }
    try setLarge(phone, "large")
    try set(phone, "theme")
    for device in [phone, laptop] { try meet(device) }
    try set(laptop, "large", "mine")
    let options = MergeOptions(isOneWay: true)
    let counts = try (0..<3).map { _ in
      try phone.merge(with: laptop, options: options).conflicts.count
    }
    #expect(counts == [1, 0, 0])
  }

  @Test func aCloneKnowsWhatTheHubLacks() throws {
    let folder = try TemporaryFolder()
    for device in [phone, laptop] { try meet(device) }
    try setLarge(phone, "large")
    try set(phone, "theme")
    try meet(phone)
    let path = folder.path + "/clone"
    try phone.clone(to: path, identity: ReplicaID(rawValue: 3))
    let clone = try Device(
      path: path, access: .existing, busyTimeout: Device.defaultBusyTimeout,
      clock: clock.wallClock, folder: folder, identity: ReplicaID(rawValue: 0))
    try meet(laptop)
    try set(laptop, "large", "mine")
    try meet(laptop)
    #expect(try meet(clone).conflicts.map(\.conflict.key) == ["large"])
  }

  @Test func whatAnotherHubHasTakenWasSeenThere() throws {
    let other = CountedHub(MemoryHub(ReplicaID(rawValue: 8)), clock)
    for hub in [line, other] {
      for device in [phone, laptop] { try meet(device, hub) }
    }
    try setLarge(phone, "large")
    #expect(try meet(phone).events == notSent(1, "large"))
    for device in [phone, laptop] { try meet(device, other) }
    try set(laptop, "large", "mine")
    for device in [laptop, phone] { #expect(try meet(device, other).conflicts.isEmpty) }
  }

  /// Another program may have made it.
  @Test func aRowThatNoDeviceWritesIsNamedBeforeAnythingIsSent() throws {
    for key in ["a", "large", "b"] { try set(phone, key) }
    try phone.core.access {
      try $0.run("UPDATE entry SET value = zeroblob((1 << 20) + 1) WHERE key = 'large'")
    }
    let error = #expect(throws: KeepsakeError.self) { try meet(phone) }
    #expect(error?.description == "(memory): \(Self.excess)" && keys().isEmpty)
    #expect(try phone.entry(store: "cloud", key: "large")?.content.cell.byteCount == 1 << 20 + 1)
    try set(phone, "large")
    #expect(try meet(phone).hasConverged && keys() == ["a", "b", "large"])
  }

  @Test func aRowOfAHubThatIsLargerThanADeviceAcceptsIsNamedAndNothingIsWritten() throws {
    for key in ["a", "large", "b"] { try set(phone, key) }
    try meet(phone)
    let value = Cell.text(String(repeating: "x", count: 1 << 20 + 1))
    line.change = { answer in
      for index in (answer.page?.rows ?? []).indices
      where answer.page?.rows[index].entry.address.key.string == "large" {
        answer.page?.rows[index].entry.content.cell = value
      }
    }
    let error = #expect(throws: KeepsakeError.self) { try meet(laptop) }
    #expect(error?.description == "hub: \(Self.excess)")
    #expect(try laptop.stores().isEmpty)
    line.change = { _ in }
    #expect(try meet(laptop).hasConverged)
  }

  private static let excess =
    "the value of cloud/large has 1048577 bytes, more than the limit of 1048576; "
    + "set a smaller one, or delete the key"

  @Test func manyThatAreNotTakenInARowArePassedOverOneByOne() throws {
    for number in 0..<300 { try setLarge(phone, "\(number)") }
    try set(phone, "theme")
    #expect(try meet(phone).events == notSent(300, "0"))
    #expect(keys() == ["theme"])
    #expect(line.requests.count < 2 * 300 + 30)
  }

  /// A version vector may be too large beside a row that is not.
  @Test func whatIsTooLargeWithTheVersionVectorGoesWithoutIt() throws {
    line.isTooLarge = { request in
      request.steps.contains { step in
        if case .push(let push) = step { !push.rows.isEmpty && push.seen != nil } else { false }
      }
    }
    for key in ["font", "theme"] { try set(phone, key) }
    let report = try meet(phone)
    #expect(report.events == [] && report.hasConverged)
    #expect(keys() == ["font", "theme"])
    // What it has seen is told nevertheless.
    try meet(laptop)
    try set(laptop, "theme", "mine")
    try meet(laptop)
    #expect(try meet(phone).conflicts.isEmpty)
    #expect(try phone.entry(store: "cloud", key: "theme")?.content.value == "mine")
  }

  @Test func aHubThatTakesNothingIsLeft() throws {
    for number in 0..<100 { try set(phone, "\(number)") }
    line.isTooLarge = pushes
    #expect {
      try meet(phone)
    } throws: { ($0 as? KeepsakeError)?.code == .tooLarge }
    #expect(line.requests.count < 30)
    line.isTooLarge = { _ in false }
    let report = try meet(phone)
    #expect(report.events == [] && report.hasConverged && keys().count == 100)
  }
}
