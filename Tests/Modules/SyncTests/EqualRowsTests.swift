// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// First merges of a large file with a copy, of which only what differs is read.
@Suite struct EqualRowsTests: ManualClockSuite {
  let clock = ManualClock()
  private let file: Device
  private let copy: Device
  private static let count = 2_500

  init() throws {
    file = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    copy = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
    try file.write(
      (0..<Self.count).map {
        LocalWrite(store: "cloud", key: "k\($0)", value: .integer(Int64($0)))
      })
    try file.merge(with: copy)
    // They forget that they have met.
    for device in [file, copy] { try device.execute("DELETE FROM peer", "DELETE FROM mark") }
  }

  private func checkEqual() throws {
    #expect(try file.lines() == copy.lines())
    let again = try file.merge(with: copy)
    #expect(again.transfers.allSatisfy { $0.received == 0 } && again.hasConverged)
  }

  @Test(arguments: [false, true])
  func aFirstMergeWithACopyReadsOnlyWhatDiffers(copyIsFirst: Bool) throws {
    try set(file, "k1", "lost")
    try set(copy, "k1", "won")
    try set(file, "k2", "new")
    try set(copy, "k3", nil)
    let devices = copyIsFirst ? [copy, file] : [file, copy]
    let report = try Merge.run(devices, options: MergeOptions())
    #expect(report.transfers.allSatisfy { (1...4).contains($0.received) } && report.hasConverged)
    #expect(report.conflicts.map(\.conflict.key) == ["k1"])
    let expected: [(String, StoredValue?)] = [("k1", "won"), ("k2", "new"), ("k3", nil)]
    for (key, value) in expected {
      #expect(try file.value(key) == value)
    }
    try checkEqual()
  }

  @Test(arguments: [Int64.max, Int64.max - 1, Int64(1) << 40])
  func aFileWhoseNumbersAreUsedUpIsReadInOrder(last: Int64) throws {
    try set(file, "k1", "new")
    try file.tables.write { connection in
      (try connection.run("UPDATE replica SET sequence_number = ?1", [.integer(last)]), [])
    }
    let report = try Merge.run([file, copy], options: MergeOptions(isOneWay: true))
    #expect(report.transfers.map(\.received) == [Self.count] && report.transfers[0].changed == 1)
    #expect(try copy.value("k1") == "new")
  }

  @Test func rowsThatWaitOrThatNoDeviceWritesAreReportedThoughBothHaveThem() throws {
    for device in [file, copy] {
      try device.execute(
        "UPDATE entry SET timestamp = 1 << 62 WHERE key = 'k7'",
        "UPDATE entry SET replica_id = 0 WHERE key = 'k8'")
    }
    let report = try file.merge(with: copy)
    #expect(report.events.contains(.unreadable(count: 1)) && !report.hasConverged)
    #expect(report.waiting.map(\.key).contains("k7"))
  }

  @Test func aCopyOfWhichMuchHasChangedIsReadWhole() throws {
    for number in 0..<60 { try set(copy, "k\(number)", "changed") }
    let report = try file.merge(with: copy)
    #expect(report.transfers[0].received == Self.count && report.hasConverged)
    try checkEqual()
  }

  /// A row that both had, written while others are read.
  @Test(arguments: [false, true])
  func aWriteWhileACopyIsReadIsNotSkipped(intoGiver: Bool) throws {
    for number in 10..<15 { try set(copy, "k\(number)", "changed") }
    let hooks = MergeHooks.once(at: .page) {
      try set(intoGiver ? copy : file, "k900", "meanwhile")
    }
    _ = try Merge.run([file, copy], options: MergeOptions(chunkSize: 2), hooks: hooks)
    #expect(try file.value("k900") == "meanwhile")
    try file.merge(with: copy)
    #expect(try file.value("k900") == "meanwhile")
    #expect(try file.conflicts().isEmpty && copy.conflicts().isEmpty)
    try checkEqual()
  }
}
