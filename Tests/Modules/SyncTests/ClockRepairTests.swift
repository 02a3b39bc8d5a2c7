// SPDX-License-Identifier: Apache-2.0

import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// `poisoned` wrote while its clock was a year ahead; then somebody set the clock.
@Suite struct ClockRepairTests {
  private static let year: Int64 = 365 * 86_400_000
  private static let day: Int64 = 86_400_000

  private let clock = ManualClock()
  private let fastClock = ManualClock()
  private let poisoned: Device
  private let peer: Device
  private let former = ReplicaID(rawValue: 1)
  private let renewed = ReplicaID(rawValue: 11)

  init() throws {
    fastClock.milliseconds = clock.milliseconds
    poisoned = try Device.inMemory(identity: former, clock: fastClock.wallClock)
    peer = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
    try poisoned.set("before", "early")
    fastClock.milliseconds += Self.year
    try poisoned.set("k", "first")
    try poisoned.set("k", "second")
    try poisoned.set("gone", nil)
    try poisoned.set("local", "stays", store: "defaults")
  }

  private func entry(_ device: Device, _ key: String) throws -> Entry? {
    try device.entry(store: "cloud", key: key)
  }

  /// Some time later the clock is right again.
  private func correct(after time: Int64 = day) {
    clock.milliseconds += time
    fastClock.milliseconds = clock.milliseconds
  }

  @Test func lateEntriesAreWrittenAnewAndTheValuesStay() throws {
    correct()
    let now = clock.milliseconds
    let before = try #require(try entry(poisoned, "before"))
    let repair = try #require(try poisoned.repairClock(as: renewed))
    #expect(repair.ahead == Self.year - Self.day)
    #expect(repair.restamped == 3)
    #expect(try poisoned.replica() == renewed)
    #expect(try entry(poisoned, "before") == before)
    let entries = try ["k", "gone"].map { try #require(try entry(poisoned, $0)) }
    #expect(entries.map(\.content.value) == ["second", nil])
    #expect(entries.map(\.replicaID) == [renewed, renewed])
    #expect(entries.map(\.timestamp.milliseconds) == [now, now])
    #expect(entries[0].timestamp < entries[1].timestamp)
    try poisoned.set("k", "third")
    #expect(try entry(poisoned, "k")?.timestamp.milliseconds == now)
    #expect(try poisoned.repairClock(as: ReplicaID(rawValue: 12)) == nil)
    #expect(try poisoned.examine().isEmpty)
  }

  @Test func othersReadTheRepairedEntriesAndNewerWritesWin() throws {
    let report = try poisoned.merge(with: peer)
    #expect(report.transfers.contains { $0.waiting == 2 } && !report.hasConverged)
    #expect(try peer.value("before") == "early" && entry(peer, "k") == nil)
    correct()
    try poisoned.repairClock(as: renewed)
    #expect(try peer.merge(with: poisoned).hasConverged)
    #expect(try peer.value("k") == "second")
    try peer.set("k", "newer")
    #expect(try peer.merge(with: poisoned).conflicts.isEmpty)
    #expect(try poisoned.value("k") == "newer")
  }

  @Test func whatOthersHadSeenSpeaksForTheLaterTimeToo() throws {
    let young = try Device.inMemory(identity: ReplicaID(rawValue: 5), clock: clock.wallClock)
    clock.milliseconds += 30 * Self.day
    try peer.set("k", "theirs")
    try peer.merge(with: young)
    try young.set("k", "mine")
    clock.milliseconds -= 30 * Self.day
    #expect(try young.repairClock(as: renewed) == nil)
  }

  /// Half a day ahead heals by waiting; a clock that shows a time before 2020 nobody has set yet.
  @Test(arguments: [year - day / 2, -40 * year])
  func aClockThatMayBeWrongNowRepairsNothing(back: Int64) throws {
    fastClock.milliseconds = clock.milliseconds + back
    #expect(try poisoned.repairClock(as: renewed) == nil)
    #expect(try poisoned.replica() == former)
  }

  @Test func anEntryOfAnotherDeviceSpeaksForTheLaterTime() throws {
    correct()
    try peer.set("theirs", 1)
    let young = try Device.inMemory(identity: ReplicaID(rawValue: 5), clock: clock.wallClock)
    try young.set("mine", 1)
    try peer.merge(with: young)
    clock.milliseconds -= 30 * Self.day
    #expect(try young.repairClock(as: renewed) == nil)
    #expect(try young.examine(repairs: true).contains { $0.isRepaired })
    #expect(try young.value("theirs") == 1)
  }

  @Test func doctorTellsAndRepairsOnRequest() throws {
    correct(after: Self.year - 3_600_000)
    #expect(try poisoned.repairClock(as: renewed) == nil)
    let findings = try poisoned.examine()
    #expect(
      findings.map(\.problem) == [
        "its clock is 3600 s ahead of this machine's, and 3 entries with it"
      ])
    #expect(try poisoned.examine(repairs: true).first?.isRepaired == true)
    #expect(try poisoned.examine().isEmpty)
    #expect(try poisoned.value("k") == "second")
    #expect(try poisoned.entry(store: "defaults", key: "local")?.content.value == "stays")
  }
}
