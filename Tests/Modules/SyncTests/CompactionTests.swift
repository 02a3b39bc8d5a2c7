// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CompactionTests: ManualClockSuite {
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

  @Test func anOldDeletionIsDropped() throws {
    try deleted()
    clock.milliseconds += 366 * Self.day
    for device in [a, b] {
      let result = try device.compact()
      #expect(result.dropped == 1 && result.kept == 0)
      #expect(try tombstones(device) == 0)
    }
    try set(a, "new", 2)
    #expect(try a.merge(with: b).hasConverged)
    for device in [a, b] { #expect(try live(device) == ["kept": 1, "new": 2]) }
  }

  @Test func aDeletionIsKeptForAYear() throws {
    try deleted()
    clock.milliseconds += 364 * Self.day
    let result = try a.compact()
    #expect(result.dropped == 0 && result.kept == 1)
    #expect(try a.compact(keeping: .seconds(86_400)).dropped == 1)
  }

  @Test(arguments: [false, true])
  func aDeviceThatWasAwayForLongerIsReadInFullAndTheReportSaysSo(startsWithA: Bool) throws {
    try deleted(knownTo: c)
    clock.milliseconds += 366 * Self.day
    #expect(try a.compact().dropped == 1)
    let report = try startsWithA ? a.merge(with: c) : c.merge(with: a)
    #expect(report.events == [.readInFull(device: startsWithA ? 1 : 0, by: startsWithA ? 0 : 1)])
    #expect(report.hasConverged && report.conflicts.isEmpty)
    for device in [a, c] { #expect(try live(device) == ["k": "old", "kept": 1]) }
    #expect(try a.merge(with: c).events.isEmpty)
  }

  @Test func aWriteThatNoDeviceHadSeenIsNotTakenForWhatWasDeleted() throws {
    try deleted(knownTo: c)
    try set(c, "k", "new")
    clock.milliseconds += 366 * Self.day
    _ = try a.compact()
    #expect(try a.merge(with: c).hasConverged)
    #expect(try live(a)["k"] == "new")
    #expect(try live(c)["k"] == "new")
  }

  /// No compaction comes between, but for that of a file that is only read, which has no lease.
  @Test(arguments: [false, true])
  func aMergeEndsIfTombstonesAreDroppedMeanwhile(isOneWay: Bool) throws {
    try set(a, "k", "old")
    for index in 0..<10 { try set(a, "kept \(index)", 1) }
    try a.merge(with: b)
    for index in 0..<10 { try set(a, "kept \(index)", 2) }
    try set(a, "k", nil)
    clock.milliseconds += 366 * Self.day
    var options = MergeOptions(isOneWay: isOneWay, chunkSize: 3)
    let before = clock.milliseconds
    options.onProgress = { [a] progress in
      guard progress.into == 1 else { return }
      #expect(throws: Never.self) {
        try a.tables.write { (try $0.forget(before: HybridTimestamp(milliseconds: before)), []) }
      }
    }
    expectError(.locked) { try Merge.run([a, b], options: options) }
    #expect(try a.merge(with: b).hasConverged)
    #expect(try live(a) == live(b))
  }
}
