// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct HeldTests {
  private let slow = ManualClock()
  private let fast = ManualClock()
  private let a: Device
  private let b: Device

  init() throws {
    fast.milliseconds = slow.milliseconds + 10 * 60_000
    a = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: slow.wallClock)
    b = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: fast.wallClock)
    try a.write([LocalWrite(store: "cloud", key: "k", value: "now")])
    try b.write([LocalWrite(store: "cloud", key: "k", value: "future")])
    try b.write([LocalWrite(store: "cloud", key: "other", value: "future")])
  }

  private func value(_ device: Device) throws -> StoredValue? {
    try device.entry(store: "cloud", key: "k")?.content.value
  }

  @Test func anEntryFromTheFutureWaitsAndTheClockIsNotDraggedAlong() throws {
    let before = try a.core.access { try ReplicaState($0).last }
    let report = try b.merge(with: a)
    #expect(report.transfers.map(\.held) == [2, 0])
    #expect(!report.hasConverged)
    #expect(try value(a) == "now")
    #expect(try a.core.access { try ReplicaState($0).last } == before)
  }

  /// What no device does: a timestamp changes in its row, after the pull has been planned.
  @Test func anEntryThatIsMovedIntoTheFutureDuringAMergeIsHeld() throws {
    let sender = try Device.temporary(clock: slow.wallClock)
    let receiver = try Device.temporary(clock: slow.wallClock)
    for key in ["first", "moved"] {
      try sender.write([LocalWrite(store: "cloud", key: key, value: 1)])
    }
    var options = MergeOptions()
    options.chunkSize = 1
    options.onProgress = { [sender] _ in
      let result = Result {
        try sender.core.access {
          try $0.run("UPDATE entry SET hlc = hlc + (3600000 << 16) WHERE key = 'moved'")
        }
      }
      #expect(throws: Never.self) { try result.get() }
    }
    options.isOneWay = true
    let report = try Merge.run([sender, receiver], options: options)
    #expect(report.transfers.map(\.held) == [1])
    #expect(try receiver.entry(store: "cloud", key: "first") != nil)
    #expect(try receiver.entry(store: "cloud", key: "moved") == nil)
  }

  @Test func aHeldEntryComesInWhenItsTimeHasComeAndIsForwardedOnlyThen() throws {
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: slow.wallClock)
    try b.merge(with: a)
    try a.merge(with: c)
    #expect(try value(c) == "now")
    slow.milliseconds += 6 * 60_000
    let report = try a.merge(with: c)
    #expect(try value(a) == "future")
    #expect(try value(c) == "future")
    #expect(report.hasConverged)
  }

  @Test func aHeldEntryOfAStoreThatNoOtherDeviceKnowsIsForwardedWhenItIsApplied() throws {
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: slow.wallClock)
    try b.write([LocalWrite(store: "cloud:new", key: "k", value: "future")])
    try b.merge(with: a)
    slow.milliseconds += 6 * 60_000
    #expect(try a.merge(with: c).hasConverged)
    #expect(try c.entry(store: "cloud:new", key: "k")?.content.value == "future")
  }

  /// Its time comes after the merge has looked for what is due, and before it reads.
  @Test func whatIsHeldDoesNotCountAsSeenWhenItsTimeComesDuringAMerge() throws {
    try b.merge(with: a)
    slow.milliseconds += 5 * 60_000 - 1
    for device in [a, b] { try device.write([LocalWrite(store: "cloud", key: "new", value: 1)]) }
    var options = MergeOptions()
    options.onProgress = { [slow] _ in slow.milliseconds += 2 }
    try b.merge(with: a, options: options)
    #expect(try a.entry(store: "cloud", key: "new")?.origin == b.replica())
    #expect(try a.core.access { try Held.count($0) } == 2)
    let seen = try a.core.access { connection in
      try connection.first(
        "SELECT count(*) FROM held JOIN seen USING (store, origin) WHERE seen.hlc >= held.hlc"
      ) { $0.integer(0) }
    }
    #expect(seen == 0)
  }

  @Test func whatIsHeldIsNotReadAgain() throws {
    try b.merge(with: a)
    let again = try b.merge(with: a)
    #expect(again.transfers.map(\.received) == [0, 0])
    #expect(!again.hasConverged)
  }

  @Test func aLargerSkewLetsItIn() throws {
    let report = try b.merge(with: a, options: MergeOptions(maximumClockSkew: .seconds(11 * 60)))
    #expect(report.transfers.map(\.held) == [0, 0])
    #expect(try value(a) == "future")
  }

  @Test func aWriteMadeWhileSomethingIsHeldLosesToItOnlyWhenItIsOlder() throws {
    try b.merge(with: a)
    try a.write([LocalWrite(store: "cloud", key: "k", value: "meanwhile")])
    #expect(try value(a) == "meanwhile")
    slow.milliseconds += 60_000
    try a.write([LocalWrite(store: "cloud", key: "other", value: "mine")])
    slow.milliseconds += 11 * 60_000
    try a.write([LocalWrite(store: "cloud", key: "k", value: "later")])
    try a.merge(with: b)
    #expect(try value(a) == "later")
    #expect(try value(b) == "later")
    let lost = try a.core.access {
      try $0.all("SELECT key, loser_value FROM conflict") { [$0.text(0), $0.text(1)] }
    }
    #expect(lost == [["other", "mine"], ["k", "future"]])
  }

  @Test func whatWaitedAndWasOverwrittenUnseenIsAConflict() throws {
    try b.merge(with: a)
    for clock in [slow, fast] { clock.milliseconds += 20 * 60_000 }
    try a.write([LocalWrite(store: "cloud", key: "k", value: "later")])
    let report = try a.merge(with: b)
    #expect(report.conflicts.map(\.conflict.lost) == ["future"])
    #expect(try value(b) == "later")
  }

  @Test func ofSeveralHeldWritesToOneKeyTheLastDueOneCounts() throws {
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: fast.wallClock)
    fast.milliseconds += 1000
    try c.write([LocalWrite(store: "cloud", key: "k", value: "further")])
    try b.merge(with: a)
    try c.merge(with: a)
    slow.milliseconds += 30 * 60_000
    let report = try a.merge(with: b, c)
    #expect(report.hasConverged)
    for device in [a, b, c] { #expect(try value(device) == "further") }
  }

  @Test func whatHasLostAlreadyOrIsHereAlreadyIsNotHeld() throws {
    try b.merge(with: a, options: MergeOptions(maximumClockSkew: .seconds(11 * 60)))
    #expect(try value(a) == "future")
    // Both have it, and a's clock goes back; a third device brings it once more, and an older one.
    slow.milliseconds -= 30 * 60_000
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: fast.wallClock)
    try b.merge(with: c)
    let report = try a.merge(with: c)
    #expect(report.transfers.map(\.held) == [0, 0])
    #expect(report.hasConverged)
    #expect(try Difference.all(a, c, stores: nil).isEmpty)
    slow.milliseconds += 60 * 60_000
    fast.milliseconds += 60 * 60_000
    try a.write([LocalWrite(store: "cloud", key: "k", value: "seen and replaced")])
    #expect(try a.merge(with: b, c).conflicts.isEmpty)
  }

  @Test func devicesThatAgreeOnAKeyHaveConvergedWhateverStillWaitsThere() throws {
    try b.merge(with: a)
    fast.milliseconds += 60_000
    slow.milliseconds += 12 * 60_000
    let skew = MergeOptions(maximumClockSkew: .zero)
    try a.write([
      LocalWrite(store: "cloud", key: "k", value: "later"),
      LocalWrite(store: "cloud", key: "other", value: "later"),
    ])
    slow.milliseconds -= 12 * 60_000
    let report = try a.merge(with: b, options: skew)
    #expect(try Difference.all(a, b, stores: nil).isEmpty == report.hasConverged)
  }
}
