// SPDX-License-Identifier: Apache-2.0

import Histories
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// That each lost write is logged once, however often, and however far, it is read.
@Suite struct LostOnceTests {
  private let clock = ManualClock()
  private let a: Device
  private let b: Device

  init() throws {
    a = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    b = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
  }

  private func fill(_ device: Device, _ value: StoredValue) throws {
    clock.milliseconds += 1
    try device.write(
      (0..<40).map { LocalWrite(store: "cloud", key: "k\($0)", value: value) })
  }

  private func merge(_ options: MergeOptions) throws {
    _ = try Merge.run([a, b], options: options)
  }

  /// Whichever commit is the last one that succeeds.
  @Test(arguments: [false, true], [false, true])
  func aFirstMergeThatIsCutOffAnywhereAndRunAgain(oneWay: Bool, isLoser: Bool) throws {
    for commits in 0..<16 {
      let test = try LostOnceTests()
      try test.fill(isLoser ? test.a : test.b, "lost")
      try test.fill(isLoser ? test.b : test.a, "won")
      let fuse = Fuse(commits)
      for device in [test.a, test.b] { try fuse.attach(to: device) }
      let options = MergeOptions(isOneWay: oneWay, chunkSize: 10)
      do {
        try test.merge(options)
        #expect(!fuse.isBlown)
      } catch {
        #expect(fuse.isBlown, "\(error)")
      }
      for device in [test.a, test.b] { try fuse.detach(from: device) }
      for _ in 0..<2 { try test.merge(options) }
      let lost = try test.a.conflicts() + test.b.conflicts()
      #expect(lost.count == 40 && Set(lost.map(\.key)).count == 40, "after \(commits) commits")
    }
  }

  @Test func aWriteOfTheSenderDuringAnExchangeInAnotherStoreDoesNotHideWhatWasSeen() throws {
    try fill(a, "old")
    clock.milliseconds += 1
    let observation = b.observe { _ in
      #expect(throws: Never.self) {
        try a.write([LocalWrite(store: "defaults", key: "local", value: 1)])
      }
    } onFailure: {
      Issue.record($0)
    }
    try merge(MergeOptions(chunkSize: 10))
    observation.cancel()
    // b has seen all of a's, and decides against one.
    clock.milliseconds += 1
    try b.write([LocalWrite(store: "cloud", key: "k1", value: "new")])
    #expect(try b.merge(with: a).conflicts.isEmpty)
  }

  @Test func aPromotedEntryLeavesNoMoreConflictsThanTheLogKeeps() throws {
    let future = clock.milliseconds + 3_600_000
    let value = StoredValue.string(String(repeating: "x", count: 1 << 20))
    for device in [a, b] {
      // Two logs of 40 MiB each do not fit.
      let isLater = device === b
      try device.write(
        (0..<40).map {
          LocalWrite(
            store: "cloud", key: "k\($0)", value: isLater ? .integer(1) : value,
            wallClock: isLater ? future : nil)
        })
    }
    try merge(MergeOptions())
    for round in 0..<2 {
      clock.milliseconds += 1
      try a.write((0..<40).map { LocalWrite(store: "cloud", key: "k\($0)", value: value) })
      clock.milliseconds = future + Int64(round) * 7_200_000
      try a.promoteDueEntries()
      try b.write(
        (0..<40).map {
          LocalWrite(
            store: "cloud", key: "k\($0)", value: 2, wallClock: clock.milliseconds + 3_600_000)
        })
      try merge(MergeOptions())
    }
    let bytes = try a.core.access {
      try $0.first("SELECT sum(length(loser_value)) FROM conflict") { $0.integer(0) } ?? 0
    }
    #expect((1...(1 << 26)).contains(bytes))
  }

  @Test func aSenderThatNamesMoreDevicesThanThereAreIsRefused() throws {
    try fill(a, "x")
    try a.core.write { connection in
      try connection.run(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 100000)
        INSERT INTO seen SELECT 'cloud', i + 10, 1 FROM n
        """)
      return ((), [])
    }
    #expect(throws: KeepsakeError.self) { try merge(MergeOptions()) }
    let rows = try b.core.access {
      try $0.first("SELECT count(*) FROM seen") { $0.integer(0) }
    }
    #expect(rows == 0)
  }
}
