// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct ConflictTests: TwoDeviceSuite {
  let clock: ManualClock
  let a: Device
  let b: Device

  private func set(_ device: Device, _ value: StoredValue?) throws {
    try set(device, "k", value)
  }

  private func losses(_ report: MergeReport) -> [StoredValue?] {
    report.conflicts.map(\.conflict.lost)
  }

  @Test(arguments: [false, true])
  func aConcurrentWriteThatLosesIsLoggedOnceWhicheverWins(secondWins: Bool) throws {
    try set(secondWins ? a : b, "lost")
    try set(secondWins ? b : a, "won")
    let report = try a.merge(with: b)
    #expect(losses(report) == ["lost"])
    #expect(report.transfers.map(\.conflicts) == [1, 0])
    #expect(try a.conflicts().map(\.lost) == ["lost"])
    #expect(try b.conflicts().isEmpty)
    #expect(try a.merge(with: b).conflicts.isEmpty)
  }

  @Test func aConflictIsLoggedOnceThoughTheClockOfTheFileThatFoundItIsAhead() throws {
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
    try set(b, "lost")
    try b.merge(with: c)
    try set(a, "won")
    clock.milliseconds += 600_000
    try set(b, "late", 1)
    clock.milliseconds -= 600_000
    #expect(try losses(b.merge(with: a)) == ["lost"])
    #expect(try a.merge(with: c).conflicts.isEmpty)
    #expect(try c.entry(store: "cloud", key: "k")?.content.value == "won")
  }

  @Test func aWriteThatWasSeenBeforeItWasReplacedIsNoConflict() throws {
    try set(a, "old")
    try a.merge(with: b)
    try set(b, "new")
    #expect(try a.merge(with: b).conflicts.isEmpty)
    try set(a, "newer")
    #expect(try b.merge(with: a).conflicts.isEmpty)
  }

  @Test(arguments: [false, true])
  func aWriteAfterADroppedDeletionWasReadIsNoConflict(throughAThirdDevice: Bool) throws {
    let name = "cloud:gone"
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
    let writer = throughAThirdDevice ? c : b
    try set(a, "k", nil, name)
    clock.milliseconds += 400 * 86_400_000
    try a.compact()
    try a.merge(with: b)
    if throughAThirdDevice { try b.merge(with: c) }
    try set(writer, "k", "anew", name)
    #expect(try a.merge(with: writer).conflicts.isEmpty)
    #expect(try a.value("k", store: name) == "anew")
  }

  @Test func aCloneHasReadTheDeletionsThatWereDropped() throws {
    try set(a, nil)
    clock.milliseconds += 400 * 86_400_000
    try a.compact()
    let folder = try TemporaryFolder()
    try a.clone(to: folder.path + "/clone")
    let clone = try Device(path: folder.path + "/clone", clock: clock.wallClock)
    try set(clone, "anew")
    #expect(try a.merge(with: clone).conflicts.isEmpty)
  }

  @Test func twoWritesOfOneValueAreNoConflict() throws {
    try set(a, "same")
    try set(b, "same")
    #expect(try a.merge(with: b).conflicts.isEmpty)
  }

  @Test func aLostDeletionIsAConflictToo() throws {
    try set(a, "old")
    try a.merge(with: b)
    try set(a, nil)
    try set(b, "kept")
    #expect(losses(try a.merge(with: b)) == [nil])
  }

  @Test func whatWasSeenThroughAThirdDeviceIsNoConflict() throws {
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
    try set(a, "old")
    try a.merge(with: b)
    try b.merge(with: c)
    try set(c, "new")
    #expect(try c.merge(with: a).conflicts.isEmpty)
  }

  @Test func whatIsWrittenDuringAnExchangeCountsAsSeenOnlyWhenItWasRead() throws {
    for key in ["x", "y"] { try a.write([LocalWrite(store: "cloud", key: key, value: 1)]) }
    let observation = b.observe { [a] changes in
      guard changes.contains(where: { $0.key == "x" }) else { return }
      #expect(throws: Never.self) {
        try a.write([LocalWrite(store: "cloud", key: "k", value: "during")])
      }
    } onFailure: {
      Issue.record($0)
    }
    try a.merge(with: b, options: MergeOptions(chunkSize: 1))
    observation.cancel()
    try set(b, "later")
    #expect(losses(try a.merge(with: b)) == ["during"])
  }

  @Test(arguments: [(10_050, 50_000), (25_000, 5000)])
  func theConflictLogIsBoundedAndSaysWhatItDropped(_ count: Int, _ chunk: Int) throws {
    for device in [a, b] {
      clock.milliseconds += 1
      try device.write(
        (0..<count).map {
          LocalWrite(store: "cloud", key: "\($0)", value: device === a ? "a" : "b")
        })
    }
    let report = try a.merge(with: b, options: MergeOptions(chunkSize: chunk))
    #expect(report.transfers.map(\.conflicts) == [count, 0])
    #expect(report.events == [.conflictsDropped(device: 0, count: count - 10_000)])
    let kept = try a.conflicts()
    #expect(kept.count == 10_000)
    #expect(try a.droppedConflicts() == Int64(count) - 10_000)
    #expect(kept.map(\.key) == (count - 10_000..<count).map(String.init))
  }

  @Test func whatTheSenderWouldWinIsBoundedInTheLogOfTheOther() throws {
    let count = 25_000
    try set(b, count: count, "b")
    try set(a, count: count, "a")
    let report = try a.merge(with: b, options: MergeOptions(chunkSize: 5000))
    #expect(report.transfers.map(\.conflicts) == [count, 0])
    #expect(try a.conflicts().count == 10_000)
    #expect(try a.droppedConflicts() == Int64(count) - 10_000)
  }
}
