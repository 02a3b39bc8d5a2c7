// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// What the articles promise of merges.
@Suite struct MergePromiseTests: TwoDeviceSuite {
  let clock: ManualClock
  let a: Device
  let b: Device

  @Test func anEntryFromTheFutureAdvancesNoClock() throws {
    try set(a, "k", 1)
    try b.write([
      LocalWrite(store: "cloud", key: "f", value: 1, wallClock: clock.milliseconds + 3_600_000)
    ])
    for _ in 0..<2 { try a.merge(with: b) }
    let last = try a.tables.read { try ReplicaState($0).last }
    #expect(last.milliseconds <= clock.milliseconds)
    try set(a, "later", 1)
    #expect(try a.entry(store: "cloud", key: "later")?.timestamp.milliseconds == clock.milliseconds)
  }

  /// The limit is per store, not for all of them.
  @Test func eachStoreHasAVectorOf4096IDs() throws {
    for store in 0..<30 {
      try b.execute(
        """
        WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 4105)
        INSERT INTO seen SELECT 'cloud:\(store)', i, i FROM n
        """)
    }
    #expect(try a.merge(with: b).hasConverged)
    let count = try a.tables.read { connection in
      try connection.first("SELECT count(*) FROM seen") { $0.integer(0) }
    }
    #expect(count == Int64(122_880))
  }

  @Test func aFileWithoutTheMarkThatAnotherHasNotedTakesANewReplicaID() throws {
    for key in ["k", "l"] { try set(a, key, 1) }
    try a.merge(with: b)
    try a.execute("DELETE FROM mark")
    try set(a, "m", 1)
    let report = try a.merge(with: b)
    #expect(report.events == [.newReplicaID(device: 0, reason: .copy)])
    #expect(report.transfers.map(\.received) == [0, 3])
    #expect(report.conflicts.isEmpty && report.hasConverged)
    #expect(try a.merge(with: b).events.isEmpty)
  }

  @Test func aOneWayMergeThatReadsASourceAgainSaysSo() throws {
    try set(a, "k", 1)
    var options = MergeOptions(isOneWay: true)
    _ = try Merge.run([a, b], options: options)
    options.marksSources = false
    try a.execute(
      "UPDATE replica SET trimmed = (SELECT max(sequence_number) FROM mark)", "DELETE FROM mark")
    try set(a, "l", 1)
    let report = try Merge.run([a, b], options: options)
    #expect(report.events == [.readInFull(device: 0, by: 1)])
    #expect(try Merge.run([a, b], options: options).events.isEmpty)
  }

  /// Nobody has read the write yet when the process ends.
  @Test func aStoreIsNotUpToDateBeforeAnotherDeviceHasReadIt() throws {
    try a.merge(with: b)
    try set(a, "k", 1)
    let hooks = MergeHooks.end(at: .pulled)
    #expect(throws: KeepsakeError.self) {
      try Merge.run([a, b], options: MergeOptions(), hooks: hooks)
    }
    #expect(try b.value("k") == nil)
    guard case .pending(let changes, _) = try a.syncState(of: "cloud") else {
      Issue.record("the store is not pending")
      return
    }
    #expect(changes == 1)
    try a.merge(with: b)
    #expect(
      try a.syncState(of: "cloud")
        == .upToDate(asOf: Date(milliseconds: clock.milliseconds)))
  }

  @Test func aSourceThatTakesANewIDWhileItIsReadEndsTheMerge() throws {
    for key in ["k", "l", "m"] { try set(a, key, 1) }
    let hooks = MergeHooks.once(at: .page) { [a] in try a.takeNewID(reason: .restore) }
    let options = MergeOptions(isOneWay: true, chunkSize: 2)
    expectError(.locked) { try Merge.run([a, b], options: options, hooks: hooks) }
    #expect(try Merge.run([a, b], options: options).hasConverged)
    try set(b, "k", 2)
    #expect(try a.merge(with: b).conflicts.isEmpty)
  }

  /// Rows that are written while a merge is under way come with it, or with the next one.
  @Test func aWriteBetweenTwoPagesIsRead() throws {
    for key in ["k", "l", "m", "n"] { try set(a, key, 1) }
    let hooks = MergeHooks.once(at: .page) { try set(a, "k", 2) }
    let report = try Merge.run([a, b], options: MergeOptions(chunkSize: 2), hooks: hooks)
    #expect(report.hasConverged && report.conflicts.isEmpty)
    #expect(try b.value("k") == 2)
    #expect(try a.merge(with: b).transfers.allSatisfy { $0.received == 0 })
  }

  /// More losers in one page than the log keeps, and the process ends after it.
  @Test func aPageWithMoreConflictsThanTheLogKeepsIsLoggedOnce() throws {
    let count = 10_050
    try set(b, count: count, 2)
    try set(a, count: count, 1)
    let hooks = MergeHooks.end(at: .pulled)
    #expect(throws: KeepsakeError.self) {
      try Merge.run([a, b], options: MergeOptions(), hooks: hooks)
    }
    let report = try a.merge(with: b)
    #expect(report.conflicts.isEmpty && report.hasConverged)
    let log = try a.conflicts()
    #expect(log.count == 10_000 && Set(log.map(\.key)).count == 10_000)
    #expect(try a.droppedConflicts() == 50)
  }

  @Test func aConflictThatIsLoggedAlreadyUsesUpNoNumber() throws {
    for key in ["k", "l"] { try set(b, key, "lost") }
    for key in ["k", "l"] { try set(a, key, "won") }
    let hooks = MergeHooks.end(at: .page)
    for _ in 0..<3 {
      #expect(throws: KeepsakeError.self) {
        try Merge.run([a, b], options: MergeOptions(chunkSize: 1), hooks: hooks)
      }
    }
    try a.merge(with: b)
    #expect(try a.conflicts().map(\.id) == [1, 2])
  }

  @Test func anotherAccountBeginsWithALogThatHasDroppedNothing() throws {
    try set(b, "k", "lost")
    try set(a, "k", "won")
    try a.merge(with: b)
    try a.forgetHubs(keepsValues: false)
    try set(a, "k", "lost")
    try set(b, "k", "won")
    try a.merge(with: b)
    #expect(try a.conflicts().count == 1 && a.droppedConflicts() == 0)
  }

  @Test func rowsOfAStoreWhoseNameIsNoTextAreReported() throws {
    try set(a, "k", 1)
    try a.execute(
      "INSERT INTO entry VALUES (CAST(x'636c6f75643aff' AS TEXT), 'k', 1, 'x', 1, 1, 99)")
    for _ in 0..<2 {
      let report = try b.merge(with: a)
      #expect(report.events == [.unreadable(count: 1)] && !report.hasConverged)
    }
    #expect(try b.value("k") == 1)
    #expect(try a.examine().contains { $0.kind == .row && $0.problem.contains("UTF-8") })
  }

  @Test func aRowOfALocalStoreWhoseNameIsNoTextHoldsNothingBack() throws {
    try set(a, "k", 1)
    try a.execute(
      "INSERT INTO entry VALUES (CAST(x'64656661756c7473ff' AS TEXT), 'k', 1, 'x', 1, 1, 99)")
    let report = try b.merge(with: a)
    #expect(report.events == [] && report.hasConverged)
  }
}

/// What has to be on the disk, and when.
@Suite(.serialized) struct MergeFileTests: DeviceFileSuite {
  let folder: TemporaryFolder
  let clock: ManualClock

  @Test func aRecoveredFileHasANewReplicaID() throws {
    do {
      let device = try open("a")
      try set(device, "k", 1)
      try device.backup(to: url("backup"))
    }
    let before = try open("backup").replica()
    try Data("damaged".utf8).write(to: url("a"))
    #expect(throws: KeepsakeError.self) { try open("a") }
    _ = try Device.recover(at: url("a")) { _ in .startEmpty }
    #expect(try open("a").replica() != before)
  }

  /// An earlier state of the target has nothing to read, but for stores that are not synced.
  @Test func ofABackupOfTheTargetOnlyLocalStoresAreRead() throws {
    let (a, b) = (try open("a"), try open("b"))
    try set(a, "k", "old")
    try a.merge(with: b)
    try set(a, "local", "of the backup", "defaults")
    try a.backup(to: url("backup"))
    try set(a, "k", "new")
    try set(a, "local", nil, "defaults")
    let options = MergeOptions(stores: ["cloud", "defaults"], isOneWay: true)
    let report = try Merge.run([open("backup"), a], options: options)
    #expect(report.events.isEmpty && report.conflicts.isEmpty)
    #expect(try a.entry(store: "cloud", key: "k")?.content.value == "new")
    #expect(try a.entry(store: "defaults", key: "local")?.content.value == "of the backup")
    #expect(try a.formerReplicas().isEmpty)
  }

  @Test func aOneWayMergeThatHasNothingToNoteWaitsForNoWriterOfItsSource() throws {
    let (a, b) = (try open("a"), try open("b"))
    try set(a, "k", 1)
    let options = MergeOptions(isOneWay: true)
    _ = try Merge.run([a, b], options: options)
    let locker = try Locker(url("a"), ["BEGIN IMMEDIATE"])
    #expect(try Merge.run([a, b], options: options).transfers.map(\.received) == [0])
    try locker.release()
  }

  private static let syncs = Mutex(0)

  /// Counts how often a device's log is synced.
  private func countingSyncs(of device: Device, _ body: () throws -> Void) throws {
    Self.syncs.withLock { $0 = 0 }
    let log = try device.tables.access { try $0.logFile() }
    let original = log.pointee.pMethods
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: try #require(original).pointee)
    methods.pointee.xSync = { _, _ in
      MergeFileTests.syncs.withLock { $0 += 1 }
      return SQLITE_OK
    }
    log.pointee.pMethods = UnsafePointer(methods)
    defer {
      log.pointee.pMethods = original
      methods.deallocate()
    }
    try body()
  }

  /// The other side's vectors will say that the loser is known, also if it was logged by a pull
  /// that was interrupted.
  @Test(arguments: [false, true])
  func conflictsAreOnTheDiskBeforeTheOtherSideIsWritten(isInterrupted: Bool) throws {
    let (a, b) = (try open("a"), try open("b"))
    try a.merge(with: b)
    try set(a, "k", "lost")
    for key in ["k", "l"] { try set(b, key, "won") }
    if isInterrupted {
      let hooks = MergeHooks.end(at: .page)
      #expect(throws: KeepsakeError.self) {
        try Merge.run([a, b], options: MergeOptions(chunkSize: 1), hooks: hooks)
      }
      #expect(try a.conflicts().count == 1)
    }
    let before = Mutex(0)
    let hooks = MergeHooks { boundary in
      if boundary == .pulled { before.withLock { $0 = Self.syncs.withLock(\.self) } }
      return nil
    }
    try countingSyncs(of: a) {
      _ = try Merge.run([a, b], options: MergeOptions(), hooks: hooks)
    }
    #expect(before.withLock(\.self) == 1)
    try countingSyncs(of: a) { try a.merge(with: b) }
    #expect(Self.syncs.withLock(\.self) == 0)
  }
}
