// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// What a device that meets a hub sees to itself: the hub cannot.
@Suite struct HubDeviceTests {
  /// The hub's, and the phone's.
  private let clock = ManualClock()
  private let laptopClock = ManualClock()
  private let line: CountedHub
  private let phone: Device
  private let laptop: Device

  init() throws {
    line = CountedHub(MemoryHub(ReplicaID(rawValue: 9)), clock)
    phone = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    laptop = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: laptopClock.wallClock)
  }

  private func set(_ device: Device, _ key: String, _ value: StoredValue) throws {
    for clock in [clock, laptopClock] { clock.milliseconds += 1 }
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  @discardableResult
  private func meet(_ device: Device) throws -> MergeReport {
    var generator = SystemRandomNumberGenerator()
    return try Merge.run(device, with: line, options: MergeOptions(), using: &generator)
  }

  @Test func whatLosesToARowThatWaitsHereIsAConflict() throws {
    for device in [phone, laptop] { try meet(device) }
    try set(laptop, "theme", "light")
    clock.milliseconds += 3_600_000
    try set(phone, "theme", "dark")
    try meet(phone)
    let conflicts = try meet(laptop).conflicts.map(\.conflict)
    #expect(conflicts.map(\.lostOrigin) == [ReplicaID(rawValue: 2)])
    // Once, though the row may come again.
    try meet(laptop)
    laptopClock.milliseconds = clock.milliseconds
    #expect(try meet(laptop).conflicts.isEmpty)
    #expect(try laptop.entry(store: "cloud", key: "theme")?.content.value == "dark")
  }

  @Test func aRowThatWaitedAndWasRevokedComesInAsMadeAtTheLimit() throws {
    try set(laptop, "font", "Mono")
    let limit = try #require(try laptop.entry(store: "cloud", key: "font")?.timestamp)
    clock.milliseconds += 3_600_000
    try set(phone, "theme", "dark")
    for device in [phone, laptop] { try meet(device) }
    #expect(try laptop.entry(store: "cloud", key: "theme") == nil)
    let request = HubRequest(
      device: ReplicaID(rawValue: 3), stores: [], steps: [.revoke([ReplicaID(rawValue: 1): limit])])
    _ = try line.hub.answer(request, at: clock.milliseconds).get()
    let report = try meet(laptop)
    #expect(
      report.events == [
        .timestampsRevoked(device: 0, entries: 1), .clockDiffers(device: 1, by: .seconds(3600)),
      ])
    #expect(try laptop.entry(store: "cloud", key: "theme")?.timestamp == limit)
  }

  @Test func aMergeThatAnotherOneOfTheFileOvertakesIsTakenForNoCopy() throws {
    try set(phone, "theme", "dark")
    try meet(phone)
    try set(phone, "font", "Mono")
    line.lastMet = nil
    var isFirst = true
    line.change = { [line, phone] answer in
      guard isFirst, answer.page != nil else { return }
      isFirst = false
      var generator = SystemRandomNumberGenerator()
      do {
        let report = try Merge.run(phone, with: line, options: MergeOptions(), using: &generator)
        #expect(report.hasConverged)
      } catch {
        Issue.record("the merge in between failed: \(error)")
      }
    }
    let report = try meet(phone)
    #expect(!isFirst && report.events.isEmpty && report.hasConverged)
    #expect(try phone.replica() == ReplicaID(rawValue: 1))
  }

  @Test(arguments: ["key = CAST(x'66ff' AS TEXT)", "value = CAST(x'ff' AS TEXT)"])
  func textThatIsNoUTF8StaysHereAndIsTold(change: String) throws {
    try meet(phone)
    for key in ["font", "theme"] { try set(phone, key, "x") }
    try phone.core.write { connection in
      (try connection.run("UPDATE entry SET \(change) WHERE key = 'font'"), [])
    }
    let report = try meet(phone)
    let key = change.hasPrefix("key") ? "f\u{FFFD}" : "font"
    let event = MergeReport.Event.notSent(device: 0, entries: 1, store: "cloud", key: key)
    #expect(report.events == [event] && !report.hasConverged)
    // Each merge tells.
    let again = try meet(phone)
    #expect(again.events == [event] && !again.hasConverged && !again.isNews)
    #expect(line.hub.rows.map(\.entry.address.key.string) == ["theme"])
    let kept = try phone.core.access {
      try $0.first("SELECT count(*) FROM entry") { $0.integer(0) }
    }
    #expect(kept == 2)
    try meet(laptop)
    #expect(try laptop.entry(store: "cloud", key: "theme")?.content.value == "x")
  }

  @Test func textThatIsNoUTF8IsAConflictThoughTheHubHasSeenLaterWrites() throws {
    for device in [phone, laptop] { try meet(device) }
    try set(phone, "font", "x")
    try phone.core.write { connection in
      (try connection.run("UPDATE entry SET value = CAST(x'ff' AS TEXT)"), [])
    }
    for key in ["theme", "size"] {
      try set(phone, key, "x")
      try meet(phone)
    }
    try set(laptop, "font", "Mono")
    try meet(laptop)
    let conflicts = try meet(phone).conflicts.map(\.conflict)
    #expect(conflicts.map(\.key) == ["font"])
    #expect(conflicts.map(\.lostOrigin) == [ReplicaID(rawValue: 1)])
    #expect(try phone.entry(store: "cloud", key: "font")?.content.value == "Mono")
  }

  /// As another program may set a row back.
  @Test func whatBeatsARowThatWasSetBackComesBackWithTheSameRequest() throws {
    for device in [phone, laptop, phone] { try meet(device) }
    try set(phone, "theme", "dark")
    try meet(phone)
    try phone.core.write { connection in
      var replica = try ReplicaState(connection)
      _ = try connection.entries.rewrite(
        where: "key = ?1", [.text("theme")], timestamps: .fixed(HybridTimestamp(rawValue: 1)),
        &replica)
      try replica.save(connection)
      try connection.run("UPDATE entry SET value = 'old'")
      return ((), [])
    }
    line.requests = []
    #expect(try meet(phone).hasConverged)
    #expect(line.requests.allSatisfy { $0.recalled != nil })
    #expect(try phone.entry(store: "cloud", key: "theme")?.content.value == "dark")
    #expect(line.hub.rows.map(\.entry.content.value) == ["dark"])
  }

  @Test func aStepThatWasMeantForAHubOfAnotherNameIsRefused() throws {
    try set(phone, "theme", "dark")
    for _ in 0..<2 { try meet(phone) }
    let (stores, hub, id) = ([ByteText("cloud")], ReplicaID(rawValue: 9), ReplicaID(rawValue: 1))
    let memory = try phone.party().side(toward: hub, stores).memory
    let look = HubRequest(device: id, stores: stores)
    let peers = [
      try #require(
        try line.hub.answer(look, at: clock.milliseconds).get().stores[stores[0]]?.peer)
    ]
    for name in [8, 9].map(ReplicaID.init(rawValue:)) {
      var recalling = HubRequest(
        device: id, stores: stores,
        recalled: HubRequest.Recollection(hub: name, peers: memory, revocations: [:]))
      recalling.steps = []
      let expecting = HubRequest(
        device: id, stores: stores, expected: HubRequest.Memory(hub: name, peers: peers),
        steps: [.rewind])
      for request in [recalling, expecting] {
        let answer = try line.hub.answer(request, at: clock.milliseconds)
        #expect((answer == .failure(.moved)) == (name != hub))
      }
    }
  }

  @Test func anEchoHasNoGap() {
    var echo = EchoRange(lower: 2, upper: 5)
    echo.append(5, 7)
    #expect(echo == EchoRange(lower: 2, upper: 7))
    echo.append(9, 11)
    #expect(echo == EchoRange(lower: 9, upper: 11))
  }

  @Test func whatRewindsOrRenamesADeviceHasALease() throws {
    let (party, peer) = (phone.party(takesLeases: true), laptop.party())
    try Lease.hold([phone.core.storage]) { () throws(KeepsakeError) in
      #expect { _ = try party.revoke(after: [:], as: ReplicaID(rawValue: 5)) } throws: {
        ($0 as? KeepsakeError)?.code == .locked
      }
      #expect {
        try party.rotate(to: ReplicaID(rawValue: 5), against: peer, known: nil, []) { _, _ in true }
      } throws: {
        ($0 as? KeepsakeError)?.code == .locked
      }
    }
    #expect(try phone.replica() == ReplicaID(rawValue: 1))
  }
}
