// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct ConflictHandoverTests {
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private let giver: Device
  private let first: Device
  private let second: Device

  /// A conflict that waits in the log of the giver.
  init() throws {
    folder = try TemporaryFolder()
    let (path, wallClock) = (folder.path, clock.wallClock)
    let devices = try ["giver", "first", "second"].map { name in
      try Device(path: "\(path)/\(name)", busyTimeout: .milliseconds(20), clock: wallClock)
    }
    (giver, first, second) = (devices[0], devices[1], devices[2])
    for (device, value) in [(giver, 1), (first, 2)] as [(Device, StoredValue)] {
      clock.milliseconds += 1
      try device.write([LocalWrite(store: "cloud", key: "k", value: value)])
    }
    try #require(try giver.merge(with: first).conflicts.count == 1)
    try #require(try states == [0, nil, nil])
  }

  /// What each log says of its conflict.
  private var states: [Int64?] {
    get throws {
      try [giver, first, second].map { device in
        try device.core.access { try $0.first("SELECT resolved FROM conflict") { $0.integer(0) } }
      }
    }
  }

  /// Ends between the first step of a handover and the second.
  private func begin(by device: Device, from giver: Device? = nil) throws {
    let giver = giver ?? self.giver
    let locker = try Locker(URL(fileURLWithPath: giver.path), ["BEGIN IMMEDIATE"])
    let error = #expect(throws: KeepsakeError.self) {
      try device.takeConflicts(store: "cloud", from: giver)
    }
    #expect(error?.code == .locked)
    try locker.release()
  }

  /// How many conflicts each device decides.
  private func decided() throws -> [Int] {
    try [giver, first, second].map { try $0.resolveConflicts(store: "cloud") { _ in } }
  }

  @Test func ofTwoThatBeganTheFirstThatEndsHasTheConflict() throws {
    try begin(by: first)
    try begin(by: second)
    #expect(try states == [0, 2, 2])
    try second.takeConflicts(store: "cloud", from: giver)
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [3, nil, 0])
    #expect(try decided() == [0, 0, 1])
  }

  @Test func whatWasBegunGoesOnFromWhereItEnded() throws {
    try begin(by: first)
    try first.takeConflicts(store: "cloud", from: second)
    #expect(try states == [0, 2, nil])
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [3, 0, nil])
    // It may come back, and go elsewhere.
    try giver.takeConflicts(store: "cloud", from: first)
    #expect(try states == [0, 3, nil])
    try second.takeConflicts(store: "cloud", from: giver)
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [3, 3, 0])
    #expect(try decided() == [0, 0, 1])
  }

  @Test func whatWasDecidedMeanwhileIsNotTakenOver() throws {
    try begin(by: first)
    #expect(try giver.resolveConflicts(store: "cloud") { _ in } == 1)
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [1, nil, nil])
    #expect(try decided() == [0, 0, 0])
  }

  /// Two handles of one device have looked; the other one has taken it, and given it on.
  @Test func whatHasBeenGivenOnSinceTheLookIsNotTakenAgain() throws {
    let seen = try giver.core.access { try $0.conflictLog.handovers(of: "cloud", .open) }
    try first.takeConflicts(store: "cloud", from: giver)
    try second.takeConflicts(store: "cloud", from: first)
    #expect(try states == [3, 3, 0])
    for handover in seen { try first.take(handover, from: giver) }
    #expect(try states == [3, 3, 0])
    #expect(try decided() == [0, 0, 1])
  }

  @Test func whatComesBackIsTheNewestOfItsLog() throws {
    try first.takeConflicts(store: "cloud", from: giver)
    try giver.core.write { connection in
      try connection.run(
        """
        INSERT INTO conflict (store, key, loser_tag, loser_value, loser_hlc, loser_origin,
          winner_tag, winner_hlc, winner_origin, at)
        VALUES ('other', 'k', 1, 'lost', 1, 1, 1, 2, 2, 3)
        """)
      return ((), [])
    }
    try giver.takeConflicts(store: "cloud", from: first)
    #expect(try giver.conflicts().map(\.store) == ["other", "cloud"])
    #expect(try decided() == [1, 0, 0])
  }

  @Test func whatCouldNotBeResolvedIsNotTakenBack() throws {
    let identity = try #require(try giver.conflicts().first).identity
    try first.takeConflicts(store: "cloud", from: giver, except: [identity])
    #expect(try states == [0, nil, nil])
  }

  /// Or a resolver that failed would try again, and two of them for ever.
  @Test func aHandoverIsNoWrite() throws {
    let before = try [giver, first].map { try $0.lastWrite() }
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try [giver, first].map { try $0.lastWrite() } == before)
    try first.write([LocalWrite(store: "cloud", key: "other", value: 1)])
    #expect(try first.lastWrite() > before[1])
  }

  /// Ends between the second step of a handover and the third.
  private func mark(by device: Device) throws {
    try begin(by: device)
    let id = try device.replica().rawValue
    try giver.core.write { connection in
      try connection.run("UPDATE conflict SET resolved = 3, receiver = ?1", [.integer(id)])
      return ((), [])
    }
  }

  @Test func whatWasMarkedComesBackToTheGiver() throws {
    try mark(by: first)
    #expect(try states == [3, 2, nil])
    try giver.takeConflicts(store: "cloud", from: first)
    #expect(try states == [0, 3, nil])
    #expect(try decided() == [1, 0, 0])
  }

  @Test func whatTheGiverHasDroppedSinceIsOpenAtTheReceiver() throws {
    try mark(by: first)
    try giver.core.write { (try $0.conflictLog.clear(), []) }
    try first.takeConflicts(store: "cloud", from: second)
    #expect(try states == [nil, 2, nil])
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [nil, 0, nil])
  }

  @Test func whatIsRestoredOnItsWayIsDecided() throws {
    try mark(by: first)
    try first.restore(#require(try first.conflicts().first))
    #expect(try states == [3, 1, nil])
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [3, 1, nil])
    #expect(try decided() == [0, 0, 0])
  }

  @Test func whatPassedThroughAnotherLogIsDecidedByTheOneItComesFrom() throws {
    try first.takeConflicts(store: "cloud", from: giver)
    try begin(by: second, from: first)
    let id = try second.replica().rawValue
    try first.core.write { connection in
      try connection.run("UPDATE conflict SET resolved = 3, receiver = ?1", [.integer(id)])
      return ((), [])
    }
    #expect(try states == [3, 3, 2])
    try second.takeConflicts(store: "cloud", from: giver)
    try second.takeConflicts(store: "cloud", from: first)
    #expect(try states == [3, 3, 0])
    #expect(try decided() == [0, 0, 1])
  }

  /// A merge with a third device has found it, too.
  private func find(at device: Device) throws {
    try device.core.write { connection in
      try connection.run(
        """
        INSERT INTO conflict (store, key, loser_tag, loser_value, loser_hlc, loser_origin,
          winner_tag, winner_hlc, winner_origin, at)
        SELECT store, key, loser_tag, loser_value, loser_hlc, loser_origin,
          winner_tag, winner_hlc, winner_origin, at + 1 FROM conflict
        """)
      return ((), [])
    }
  }

  private func allStates(at device: Device) throws -> [Int64] {
    try device.core.access {
      try $0.all("SELECT resolved FROM conflict ORDER BY id") { $0.integer(0) }
    }
  }

  @Test func whatIsOnItsWayDoesNotHideThatItWasHandedOver() throws {
    try begin(by: first)
    try find(at: first)
    try second.takeConflicts(store: "cloud", from: first)
    #expect(try allStates(at: first) == [2, 3])
    #expect(try allStates(at: second) == [0])
  }

  @Test func whatWasFoundHereTooIsNoLongerOnItsWay() throws {
    try mark(by: first)
    try find(at: first)
    #expect(try allStates(at: first) == [2, 0])
    try first.takeConflicts(store: "cloud", from: giver)
    #expect(try allStates(at: first) == [0])
    #expect(try decided() == [0, 1, 0])
  }

  @Test func ofTwoHandoversTheLastOneCounts() throws {
    try first.takeConflicts(store: "cloud", from: giver)
    try first.core.write { (try $0.conflictLog.clear(), []) }
    try find(at: giver)
    try giver.core.write { connection in
      try connection.run("UPDATE conflict SET resolved = 0 WHERE id = 2")
      return ((), [])
    }
    try second.takeConflicts(store: "cloud", from: giver)
    #expect(try states == [3, nil, 0])
  }

  @Test func whatCameBackIsRestoredByAHandleThatKnewItBefore() throws {
    let conflict = try #require(try giver.conflicts().first)
    try first.takeConflicts(store: "cloud", from: giver)
    try giver.takeConflicts(store: "cloud", from: first)
    try giver.restore(conflict)
    #expect(try decided() == [0, 0, 0])
  }

  @Test func anotherConflictOfTheSameNumberStaysOpen() throws {
    let conflict = try #require(try giver.conflicts().first)
    try first.core.write { connection in
      try connection.run(
        """
        INSERT INTO conflict (store, key, loser_tag, loser_value, loser_hlc, loser_origin,
          winner_tag, winner_hlc, winner_origin, at)
        VALUES ('cloud', 'other', 1, 'lost', 1, 1, 1, 2, 2, 3)
        """)
      return ((), [])
    }
    #expect(try first.conflicts().map(\.id) == [conflict.id])
    try first.restore(conflict)
    #expect(try first.conflicts().map(\.isResolved) == [false])
  }

  /// Not all that is there, for each conflict.
  @Test func whatALogSaysOfAConflictIsFoundByItsTimestamps() throws {
    let trace = try StatementTrace.of([giver, first]) {
      try first.takeConflicts(store: "cloud", from: giver)
    }
    let searches = trace.statements.filter { $0.contains("winner_hlc = ?5") }
    #expect(searches.count == 5)
    for sql in searches {
      let steps = try first.core.access { connection in
        try connection.all("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) }
      }
      #expect(steps[0].contains("USING INDEX conflict_stamps"), "\(steps): \(sql)")
    }
  }
}
