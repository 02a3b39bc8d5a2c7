// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CollectionTests {
  let clock = ManualClock()
  let a: Device
  let b: Device
  let c: Device

  init() throws {
    a = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    b = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
    c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
  }

  static let day: Int64 = 86_400_000

  func set(_ device: Device, _ key: String, _ value: StoredValue?) throws {
    clock.milliseconds += 1
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  func live(_ device: Device) throws -> [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    try device.forEachEntry { values[$0.address.key.string] = $0.content.value }
    return values
  }

  func tombstones(_ device: Device) throws -> Int {
    var count = 0
    try device.forEachEntry { if $0.content.isTombstone { count += 1 } }
    return count
  }

  /// a, b and perhaps others share k; a deletes it, and b learns that.
  func deleted(knownTo others: Device...) throws {
    try set(a, "k", "old")
    try set(a, "kept", 1)
    for other in [b] + others { try a.merge(with: other) }
    try set(a, "k", nil)
    try a.merge(with: b)
  }

  @Test func aCompactionWithinATransactionOrAMergeIsRefusedAndBreaksNeither() throws {
    try set(a, "k", "v")
    #expect(throws: KeepsakeError.self) {
      try a.transaction {
        try set(a, "k", "taken back")
        try a.compact()
      }
    }
    #expect(try live(a) == ["k": "v"])
    let refusals = Collected<KeepsakeError>()
    var options = MergeOptions()
    options.onProgress = { [a] _ in
      do throws(KeepsakeError) {
        try a.compact()
      } catch {
        refusals.append([error])
      }
    }
    try a.merge(with: b, options: options)
    #expect(!refusals.sets.isEmpty && refusals.sets.joined().allSatisfy { $0.code == .locked })
    #expect(try live(b) == ["k": "v"])
  }

  @Test func aNewIdentityStillWaitsForThosePeers() throws {
    try set(a, "k", "doomed")
    try a.merge(with: b)
    try set(a, "k", nil)
    try a.rotate(to: ReplicaID(rawValue: 11))
    clock.milliseconds += 91 * Self.day
    #expect(try a.compact().waiting == 1)
    try a.merge(with: b)
    for device in [a, b] { #expect(try live(device).isEmpty) }
    #expect(try a.compact().collected == 1)
  }

  @Test func anOldDeletionThatEveryPeerHasReadIsCollected() throws {
    try deleted()
    clock.milliseconds += 91 * Self.day
    for device in [a, b] {
      let result = try device.compact()
      #expect(result.collected == 1 && result.waiting == 0 && result.retired == [])
      #expect(try tombstones(device) == 0)
    }
    try set(a, "new", 2)
    #expect(try a.merge(with: b).hasConverged)
    for device in [a, b] { #expect(try live(device) == ["kept": 1, "new": 2]) }
  }

  @Test func aYoungDeletionWaits() throws {
    try deleted()
    clock.milliseconds += 89 * Self.day
    let result = try a.compact()
    #expect(result.collected == 0 && result.waiting == 1)
  }

  @Test func aDeletionThatAPeerHasNotReadWaitsUntilThePeerRetires() throws {
    try deleted(knownTo: c)
    clock.milliseconds += 91 * Self.day
    #expect(try a.compact().collected == 0)
    try a.retire(c.replica())
    #expect(try a.compact().collected == 1)
  }

  @Test func aPeerThatWasNotMetForHalfAYearRetiresByItself() throws {
    try deleted(knownTo: c)
    clock.milliseconds += 100 * Self.day
    try set(a, "kept", 2)
    try a.merge(with: b)
    clock.milliseconds += 81 * Self.day
    let result = try a.compact()
    #expect(result.retired == [try c.replica()] && result.collected == 1)
    #expect(try a.peers().map(\.isRetired) == [true, false])
  }

  @Test(arguments: [false, true])
  func aDeviceThatComesBackLearnsWhatWasDeletedAndKeepsWhatNoDeviceHadSeen(
    startsWithA: Bool
  ) throws {
    try deleted(knownTo: c)
    clock.milliseconds += 200 * Self.day
    try a.merge(with: b)
    _ = try a.compact()
    _ = try b.compact()
    try set(c, "its own", 3)
    let pair = startsWithA ? [a, c] : [c, a]
    let report = try pair[0].merge(with: pair[1])
    #expect(report.hasConverged)
    #expect(try live(c) == ["kept": 1, "its own": 3])
    #expect(try live(a) == live(c))
    #expect(report.conflicts.isEmpty, "who deleted it had seen it")
    #expect(try a.merge(with: b, c).hasConverged)
    for device in [b, c] { #expect(try live(device) == live(a)) }
  }

  @Test func aWriteThatNoDeviceHadSeenIsNotTakenForWhatWasDeleted() throws {
    try deleted(knownTo: c)
    try set(c, "k", "new")
    clock.milliseconds += 200 * Self.day
    _ = try a.compact()
    #expect(try a.merge(with: c).hasConverged)
    #expect(try live(a)["k"] == "new")
    #expect(try live(c)["k"] == "new")
  }

  @Test func anAnswerBeatsWhatItAnswersAndNothingLater() throws {
    let d = try Device.inMemory(identity: ReplicaID(rawValue: 4), clock: clock.wallClock)
    try deleted(knownTo: c)
    try set(d, "k", "later")
    clock.milliseconds += 200 * Self.day
    _ = try a.compact()
    try a.merge(with: c)
    #expect(try live(c)["k"] == nil)
    try a.merge(with: d, c)
    for device in [a, c, d] { #expect(try live(device)["k"] == "later") }
  }

  @Test func aDeviceThatOnlyARelayKnowsDoesNotResurrect() throws {
    try set(a, "k", "old")
    try a.merge(with: b)
    try b.merge(with: c)
    try set(a, "k", nil)
    try a.merge(with: b)
    clock.milliseconds += 200 * Self.day
    #expect(try a.compact().collected == 1)
    #expect(try c.merge(with: a).hasConverged)
    #expect(try live(a) == [:])
    #expect(try live(c) == [:])
  }

  @Test func aCollectedDeletionBeatsWhatIsOlderAndLogsWhatNoDeviceHadSeen() throws {
    try set(c, "k", "older")
    try set(a, "k", nil)
    try a.merge(with: b)
    clock.milliseconds += 91 * Self.day
    #expect(try a.compact().collected == 1)
    let report = try a.merge(with: c)
    #expect(report.hasConverged && report.conflicts.map(\.conflict.lost) == ["older"])
    #expect(try a.merge(with: b).conflicts.isEmpty)
    for device in [a, b, c] { #expect(try live(device) == [:]) }
  }

  @Test func whatAGivenUpNameWroteIsRatherKeptThanTakenForDeleted() throws {
    try deleted()
    clock.milliseconds += 200 * Self.day
    _ = try a.compact()
    _ = try b.compact()
    // A copy of b's file from the time when it had k, which has gone on since.
    let copy = try Device.inMemory(identity: ReplicaID(rawValue: 4), clock: clock.wallClock)
    clock.milliseconds -= 190 * Self.day
    try set(copy, "k2", "unseen")
    clock.milliseconds += 190 * Self.day
    try copy.core.write { connection in
      try connection.run("INSERT INTO superseded VALUES (2, 1)")
      try connection.run("UPDATE entry SET origin = 2, hlc = 65536 WHERE key = 'k2'")
      return ((), [])
    }
    #expect(try copy.merge(with: a).hasConverged)
    #expect(try live(a)["k2"] == "unseen")
  }

  /// Whatever a device's clock says while it reads.
  @Test(arguments: [365 * 50 * day, day])
  func anExchangeWithAClockFarBehindBringsNothingDeletedBack(behind: Int64) throws {
    try deleted(knownTo: c)
    clock.milliseconds += 200 * Self.day
    try a.merge(with: b)
    #expect(try a.compact().collected == 1)
    #expect(try b.compact().collected == 1)
    clock.milliseconds -= 200 * Self.day + behind
    try a.merge(with: c)
    clock.milliseconds += 200 * Self.day + behind
    for _ in 0..<2 { #expect(try a.merge(with: c).hasConverged) }
    for device in [a, c] { #expect(try live(device) == ["kept": 1]) }
  }

  @Test func aForgottenDeletionIsUndoneForAllRatherThanForOne() throws {
    try deleted(knownTo: c)
    clock.milliseconds += 200 * Self.day
    #expect(try a.compact().collected == 1)
    clock.milliseconds += 11 * 366 * Self.day
    try set(a, "kept", 2)
    try a.compact()
    #expect(try a.merge(with: c).hasConverged)
    for device in [a, c] { #expect(try live(device) == ["k": "old", "kept": 2]) }
  }

  @Test func aTombstoneStaysWhileSomethingWaitsForItsTime() throws {
    try set(a, "k", "old")
    try a.merge(with: b)
    try set(a, "k", nil)
    try a.merge(with: b)
    clock.milliseconds += 91 * Self.day
    try c.write([
      LocalWrite(
        store: "cloud", key: "k", value: "later", wallClock: clock.milliseconds + 3_600_000)
    ])
    try a.merge(with: c)
    #expect(try a.compact().collected == 0)
    clock.milliseconds += 3_600_000
    #expect(try a.merge(with: b, c).hasConverged)
    for device in [a, b, c] { #expect(try live(device) == ["k": "later"]) }
  }

  @Test func aDateFromTheFutureBindsNoDevice() throws {
    try deleted()
    let right = clock.milliseconds
    clock.milliseconds = 4_102_444_800_000
    try a.merge(with: b)
    clock.milliseconds = right
    #expect(try a.examine().contains { $0.kind == .peer && $0.problem.contains("has not come") })
    #expect(try a.compact().retired.isEmpty)
    clock.milliseconds += 181 * Self.day
    #expect(try a.compact().retired == [b.replica()])
  }

  @Test func theNextExchangeCorrectsADateFromTheFuture() throws {
    try deleted()
    let right = clock.now
    clock.milliseconds = 4_102_444_800_000
    try a.merge(with: b)
    clock.set(to: right)
    try a.merge(with: b)
    for device in [a, b] { #expect(try device.peers().map(\.lastMet) == [right]) }
  }

  /// Another process may collect while an exchange is under way.
  @Test(arguments: [false, true])
  func aTombstoneThatIsCollectedDuringAnExchangeIsStillSent(isOneWay: Bool) throws {
    try set(a, "k", "old")
    for index in 0..<10 { try set(a, "kept \(index)", 1) }
    try a.merge(with: b)
    for index in 0..<10 { try set(a, "kept \(index)", 2) }
    try set(a, "k", nil)
    clock.milliseconds += 91 * Self.day
    try a.retire(b.replica())
    var options = MergeOptions(isOneWay: isOneWay, chunkSize: 3)
    let before = clock.milliseconds
    options.onProgress = { [a] progress in
      guard progress.into == 1 else { return }
      #expect(throws: Never.self) {
        try a.core.write { (try Device.Compaction.collect($0, before: before), []) }
      }
    }
    _ = try Merge.run([a, b], options: options)
    #expect(try live(b)["k"] == nil)
    #expect(try live(a)["k"] == nil)
  }
}
