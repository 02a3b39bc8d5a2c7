// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Merges of so many rows into an empty file that they are inserted without a temporary copy.
@Suite struct LargeMergeTests: ManualClockSuite {
  let clock = ManualClock()
  private let full: Device
  private let empty: Device
  private static let count = 2_500

  init() throws {
    full = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    empty = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
    for store in ["cloud", "cloud:work"] {
      try full.write(
        (0..<Self.count / 2).map {
          LocalWrite(store: store, key: "k\($0)", value: .integer(Int64($0)))
        })
    }
    try full.write([LocalWrite(store: "cloud", key: "k7", value: nil)])
  }

  private func checkEqual() throws {
    #expect(try full.lines() == empty.lines())
    let again = try full.merge(with: empty)
    #expect(again.transfers.allSatisfy { $0.received == 0 } && again.hasConverged)
  }

  @Test(arguments: [false, true], [300, 50_000])
  func allRowsArriveOnceWhicheverFileIsEmpty(emptyIsFirst: Bool, chunk: Int) throws {
    let options = MergeOptions(chunkSize: chunk)
    let report = try emptyIsFirst
      ? empty.merge(with: full, options: options) : full.merge(with: empty, options: options)
    #expect(report.transfers.map(\.received).sorted() == [0, Self.count])
    #expect(report.transfers.map(\.changed).sorted() == [0, Self.count])
    #expect(report.changes.count == 1000 && report.isTruncated && report.hasConverged)
    try checkEqual()
    try set(empty, "k1", "new")
    #expect(try full.merge(with: empty).conflicts.isEmpty)
    try checkEqual()
  }

  /// Either file may be written between the transactions, a key that was inserted or one that was
  /// not.
  @Test(arguments: [(false, "k1"), (true, "k1"), (true, "k999")], [false, true])
  func aWriteMeanwhileLosesNothing(_ write: (Bool, String), emptyIsFirst: Bool) throws {
    let (intoGiver, key) = write
    let devices = emptyIsFirst ? [empty, full] : [full, empty]
    let hooks = MergeHooks.once(at: .page) {
      try set(intoGiver ? full : empty, key, "meanwhile")
    }
    _ = try Merge.run(devices, options: MergeOptions(chunkSize: 300), hooks: hooks)
    try full.merge(with: empty)
    #expect(try full.value(key) == "meanwhile")
    try checkEqual()
    let lost = try full.conflicts() + empty.conflicts()
    #expect(intoGiver ? lost.isEmpty : Set(lost.map(\.key)).isSubset(of: [key]))
  }

  @Test func anObserverThatIsAddedMeanwhileIsSentTheRest() throws {
    let heard = Heard()
    var token: ObservationToken?
    let hooks = MergeHooks.once(at: .page) { token = heard.observe(empty) }
    _ = try Merge.run([empty, full], options: MergeOptions(chunkSize: 300), hooks: hooks)
    token?.cancel()
    #expect(heard.sets.joined().count >= Self.count - 1 - 300)
    try checkEqual()
  }

  @Test func aStoreWhoseNameJSONCannotCarryArrives() throws {
    for number in 0..<50 {
      try full.write([LocalWrite(store: "cloud:a\0b", key: "k\(number)", value: 1)])
    }
    #expect(try empty.merge(with: full).hasConverged)
    #expect(try empty.values(store: "cloud:a\0b").count == 50)
  }

  private func spoil(_ change: String) throws {
    try full.execute("UPDATE entry SET \(change) WHERE store = 'cloud' AND key = 'k3'")
  }

  @Test(
    arguments: [
      "sequence_number = 0", "store = CAST(x'636c6f75643aff' AS TEXT)",
      "key = CAST(x'f8' AS TEXT)", "value = CAST(x'ff' AS TEXT)",
    ], [false, true])
  func aRowThatNoDeviceWritesIsLeftOutAndReportedEachTime(
    _ change: String, hasLocalRow: Bool
  ) throws {
    if hasLocalRow { try empty.set("k", 1, store: "defaults") }
    try spoil(change)
    for _ in 0..<2 {
      let report = try empty.merge(with: full)
      #expect(report.events == [.unreadable(count: 1)] && !report.hasConverged)
    }
    #expect(try empty.entry(store: "cloud", key: "k3") == nil)
    #expect(try empty.values(store: "cloud").count == Self.count / 2 - 2)
  }

  /// Only the first merge of two files measures all rows.
  @Test func aRowThatIsTooLargeIsRefusedAlsoIfTheFilesKnowEachOther() throws {
    try full.merge(with: empty, options: MergeOptions(stores: ["cloud:other"]))
    try spoil("value = printf('%.*c', 1048577, 'x')")
    let error = #expect(throws: KeepsakeError.self) {
      try empty.merge(with: full, options: MergeOptions(stores: ["cloud"]))
    }
    #expect(error?.problem.contains("cloud/k3") == true)
    #expect(try empty.entry(store: "cloud", key: "k3") == nil)
  }

  @Test func aRowFromTheFutureIsNotInserted() throws {
    try full.write([
      LocalWrite(
        store: "cloud", key: "future", value: 1, wallClock: clock.milliseconds + 3_600_000)
    ])
    let report = try full.merge(with: empty)
    #expect(report.waiting.map(\.key) == ["future"] && !report.hasConverged)
    #expect(try empty.entry(store: "cloud", key: "future") == nil)
  }
}

/// What a merge reports in unusual cases.
@Suite struct UnusualMergeTests: TwoDeviceSuite {
  let clock: ManualClock
  let a: Device
  let b: Device

  @Test func aMergeWithoutOthersDoesNothing() throws {
    #expect(try a.merge().hasConverged)
  }

  @Test(arguments: [-1, 0])
  func aReportWithoutChangesStillCountsWhatWaits(limit: Int) throws {
    try set(a, "k", 1, "cloud")
    try b.write([
      LocalWrite(store: "cloud", key: "f", value: 1, wallClock: clock.milliseconds + 3_600_000)
    ])
    let report = try a.merge(with: b, options: MergeOptions(changeLimit: limit))
    #expect(report.waiting.isEmpty && report.changes.isEmpty && !report.hasConverged)
    #expect(report.transfers.map(\.waiting) == [1, 0])
  }

  @Test func changesTakeNoRoomFromConflicts() throws {
    for number in 0..<20 { try set(a, "a\(number)", 1, "cloud") }
    try set(b, "k", "lost", "cloud")
    try set(a, "k", "won", "cloud")
    let report = try b.merge(with: a, options: MergeOptions(changeLimit: 10))
    #expect(report.changes.count == 10 && report.conflicts.count == 1)
  }

  @Test func aWriteInANamedLocalStoreThatWasReadIsNoConflict() throws {
    let options = MergeOptions(stores: ["defaults"])
    try set(a, "k", 1, "defaults")
    try a.merge(with: b, options: options)
    try set(b, "k", 2, "defaults")
    #expect(try a.merge(with: b, options: options).conflicts.isEmpty)
    try a.takeNewID(reason: .restore)
    try set(b, "k", 3, "defaults")
    #expect(try a.merge(with: b, options: options).conflicts.isEmpty)
    #expect(try a.entry(store: "defaults", key: "k")?.content.value == 3)
  }

  @Test func aSecondMergeWithAPeerThatIsAheadWritesNothing() throws {
    let fast = ManualClock()
    fast.milliseconds = clock.milliseconds + 600_000
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: fast.wallClock)
    try set(a, "k", 1, "cloud")
    try c.write([LocalWrite(store: "cloud", key: "f", value: 1)])
    for _ in 0..<2 { try a.merge(with: c) }
    let before = try [a, c].map { try FileState(of: $0) }
    clock.milliseconds += 1
    let report = try a.merge(with: c)
    #expect(report.waiting.map(\.key) == ["f"] && !report.isNews)
    for (device, state) in zip([a, c], before) {
      #expect(try FileState(of: device).differences(from: state).isEmpty)
    }
  }

  @Test func aRowThatDoesNotLeaveItsFileMayBeOfAnySize() throws {
    try set(b, "k", 1, "cloud")
    try a.execute(
      "INSERT INTO entry VALUES ('defaults', 'large', 6, zeroblob(17000000), 1, 1, 99)")
    #expect(try a.merge(with: b).hasConverged)
    #expect(try a.entry(store: "cloud", key: "k") != nil)
  }

  @Test func rowsThatNoDeviceWritesAreReported() throws {
    try set(a, "k", 1, "cloud")
    try a.execute("INSERT INTO entry VALUES ('cloud', 'odd', 1, 'x', 1, 0, 99)")
    for _ in 0..<2 {
      let report = try b.merge(with: a)
      #expect(report.events == [.unreadable(count: 1)] && !report.hasConverged)
    }
    let before = try [a, b].map { try FileState(of: $0) }
    try b.merge(with: a)
    for (device, state) in zip([a, b], before) {
      #expect(try FileState(of: device).differences(from: state).isEmpty)
    }
    #expect(try a.examine().map(\.kind).contains(.row))
  }
}
