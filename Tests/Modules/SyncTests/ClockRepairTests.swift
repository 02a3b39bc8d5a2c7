// SPDX-License-Identifier: Apache-2.0

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
    try set(poisoned, "before", "early")
    fastClock.milliseconds += Self.year
    try set(poisoned, "k", "first")
    try set(poisoned, "k", "second")
    try set(poisoned, "gone", nil)
    try set(poisoned, "local", "stays", store: "defaults")
  }

  private func set(
    _ device: Device, _ key: String, _ value: StoredValue?, store: String = "cloud"
  ) throws {
    try device.write([LocalWrite(store: store, key: key, value: value)])
  }

  private func entry(_ device: Device, _ key: String) throws -> Entry? {
    try device.entry(store: "cloud", key: key)
  }

  private func value(_ device: Device, _ key: String) throws -> StoredValue? {
    try entry(device, key)?.content.value
  }

  private func held(_ device: Device) throws -> Int {
    try device.core.access { try Held.count($0) }
  }

  /// Some time later the clock is right again.
  private func correct(after time: Int64 = day) {
    clock.milliseconds += time
    fastClock.milliseconds = clock.milliseconds
  }

  @Test func lateTimestampsAreRevokedAndTheValuesStay() throws {
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
    #expect(entries.map(\.origin) == [renewed, renewed])
    #expect(entries.map(\.timestamp.milliseconds) == [now, now])
    #expect(entries[0].timestamp < entries[1].timestamp)
    try set(poisoned, "k", "third")
    #expect(try entry(poisoned, "k")?.timestamp.milliseconds == now)
    #expect(try poisoned.repairClock(as: ReplicaID(rawValue: 12)) == nil)
    #expect(try poisoned.examine().isEmpty)
  }

  @Test func theRepairTravelsAndHeldCopiesAreDropped() throws {
    let third = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
    try poisonedMeets(peer)
    try peer.merge(with: third)
    #expect(try held(peer) == 2)
    correct()
    try poisoned.repairClock(as: renewed)
    let report = try peer.merge(with: poisoned)
    #expect(report.hasConverged)
    #expect(report.events == [.timestampsRevoked(device: 0, entries: 2)])
    #expect(try held(peer) == 0)
    #expect(try value(peer, "k") == "second")
    try set(peer, "k", "a year of edits")
    try third.merge(with: peer)
    clock.milliseconds += 2 * Self.year
    try third.promoteDueEntries()
    try peer.promoteDueEntries()
    let last = try third.merge(with: peer, poisoned)
    #expect(last.hasConverged)
    for device in [peer, third, poisoned] { #expect(try value(device, "k") == "a year of edits") }
  }

  /// The fast device itself brings its entries.
  private func poisonedMeets(_ device: Device) throws {
    let report = try poisoned.merge(with: device)
    #expect(report.transfers.contains { $0.held == 2 })
  }

  @Test func whatAnotherFastDeviceHadAcceptedCountsNoLonger() throws {
    let accomplice = try Device.inMemory(
      identity: ReplicaID(rawValue: 4), clock: fastClock.wallClock)
    try set(accomplice, "k", "beaten by the future")
    try poisoned.merge(with: accomplice)
    fastClock.milliseconds += 1000
    try set(accomplice, "other", "its own")
    correct()
    // Its own timestamps are late too; but an entry of somebody else says that the time was right.
    #expect(try accomplice.repairClock(as: ReplicaID(rawValue: 14)) == nil)
    // The same holds the other way round, until somebody has looked at the clock.
    #expect(try poisoned.repairClock(as: renewed) == nil)
    try poisoned.repairClock(isForced: true, as: renewed)
    try poisoned.merge(with: accomplice)
    #expect(try entry(accomplice, "k")?.origin == renewed)
    #expect(try held(poisoned) == 1)
    #expect(try accomplice.repairClock(as: ReplicaID(rawValue: 14))?.restamped == 1)
    let report = try poisoned.merge(with: accomplice, peer)
    #expect(report.hasConverged)
    for device in [poisoned, accomplice, peer] {
      #expect(try value(device, "other") == "its own")
      #expect(try value(device, "k") == "second")
      #expect(try held(device) == 0)
      #expect(try device.examine().isEmpty)
    }
  }

  @Test func anExchangeOfSomeStoresLeavesWhatIsHeld() throws {
    try poisonedMeets(peer)
    correct()
    try poisoned.repairClock(as: renewed)
    try poisoned.merge(with: peer, options: MergeOptions(stores: ["cloud:other"]))
    #expect(try held(peer) == 2)
    try poisoned.merge(with: peer)
    #expect(try held(peer) == 0)
    #expect(try value(peer, "k") == "second")
  }

  @Test(arguments: [0, -1, Int64.max])
  func noOtherDeviceCanRevokeATimestampSoThatAnOlderWriteWins(limit: Int64) throws {
    let liar = try Device.inMemory(identity: ReplicaID(rawValue: 9), clock: clock.wallClock)
    try set(peer, "k", "old")
    clock.milliseconds += 1
    let other = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
    try set(other, "k", "new")
    try liar.core.write { connection in
      try connection.run("INSERT INTO void VALUES (2, ?1)", [.integer(limit)])
      return ((), [])
    }
    try liar.merge(with: peer)
    #expect(try peer.replica() == ReplicaID(rawValue: 2) || limit == 0)
    try other.merge(with: peer)
    #expect(try value(peer, "k") == "new")
    #expect(try value(other, "k") == "new")
  }

  @Test func whatOthersHadSeenSpeaksForTheLaterTimeToo() throws {
    let young = try Device.inMemory(identity: ReplicaID(rawValue: 5), clock: clock.wallClock)
    clock.milliseconds += 30 * Self.day
    try set(peer, "k", "theirs")
    try peer.merge(with: young)
    try set(young, "k", "mine")
    clock.milliseconds -= 30 * Self.day
    #expect(try young.repairClock(as: renewed) == nil)
  }

  @Test func aReaderThatCannotTellTheSenderCutsWhatItReads() throws {
    let accomplice = try Device.inMemory(
      identity: ReplicaID(rawValue: 4), clock: fastClock.wallClock)
    try poisoned.merge(with: accomplice)
    correct()
    try poisoned.repairClock(isForced: true, as: renewed)
    try poisoned.merge(with: peer)
    try set(peer, "k", "newer")
    try Merge.oneWay(accomplice, into: peer)
    #expect(try held(peer) == 0)
    #expect(try value(peer, "k") == "newer")
  }

  @Test func aCopyThatWroteOnUnderTheFormerNameLosesNothing() throws {
    let copy = try Device.inMemory(identity: former, clock: clock.wallClock)
    correct()
    try poisoned.repairClock(as: renewed)
    correct()
    try set(copy, "mine", "written by the copy")
    let report = try peer.merge(with: poisoned, copy)
    #expect(report.events.contains(.cloneDetected(device: 2)))
    #expect(report.hasConverged)
    for device in [peer, poisoned, copy] {
      #expect(try value(device, "mine") == "written by the copy")
      #expect(try entry(device, "mine")?.origin == (try copy.replica()))
    }
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
    try set(peer, "theirs", 1)
    let young = try Device.inMemory(identity: ReplicaID(rawValue: 5), clock: clock.wallClock)
    try set(young, "mine", 1)
    try peer.merge(with: young)
    clock.milliseconds -= 30 * Self.day
    #expect(try young.repairClock(as: renewed) == nil)
    #expect(try young.examine(repairs: true).contains { $0.isRepaired })
    #expect(try value(young, "theirs") == 1)
  }

  @Test func doctorTellsAndRepairsOnRequest() throws {
    correct(after: Self.year - 3_600_000)
    #expect(try poisoned.repairClock(as: renewed) == nil)
    let findings = try poisoned.examine()
    #expect(
      findings.map(\.problem) == [
        "its clock is 3600 s ahead of this machine's", "3 timestamps in the future",
      ])
    #expect(try poisoned.examine(repairs: true).first?.isRepaired == true)
    #expect(try poisoned.examine().isEmpty)
    #expect(try value(poisoned, "k") == "second")
    #expect(try poisoned.entry(store: "defaults", key: "local")?.content.value == "stays")
  }
}

extension Merge {
  fileprivate static func oneWay(_ sender: Device, into receiver: Device) throws {
    var generator = SeededGenerator(seed: 1)
    let report = try run(
      [sender, receiver], options: MergeOptions(isOneWay: true), using: &generator)
    #expect(report.transfers.count == 1)
  }
}
