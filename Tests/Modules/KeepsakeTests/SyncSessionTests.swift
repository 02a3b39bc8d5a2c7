// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeTesting
import TestSupport
import Testing

@Suite(.serialized) struct SyncSessionTests {
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private let a: Device
  private let b: Device
  private let here: CloudKeyValueStore
  private let there: CloudKeyValueStore
  private let reports = Collected<MergeReport>()
  private let failures = Collected<KeepsakeError>()
  private let heard = Heard()

  init() throws {
    folder = try TemporaryFolder()
    a = try Device(path: folder.path + "/a.keepsake", clock: clock.wallClock)
    b = try Device(path: folder.path + "/b.keepsake", clock: clock.wallClock)
    here = try CloudKeyValueStore(on: a)
    there = try CloudKeyValueStore(on: b)
  }

  private func begin() -> SyncSession {
    SyncSession(a, b) {
      reports.append([$0])
    } onFailure: {
      failures.append([$0])
    }
  }

  private func kvsync(_ words: String...) throws {
    let ending = try Command.run(Command.kvsync.get(), words)
    #expect(ending.code == 0, "\(ending)")
  }

  @Test func whatEitherWritesArrivesAtTheOther() throws {
    here["before"] = 1
    let token = there.observe { heard.append($0) }
    let back = here.observe { heard.append($0) }
    let session = begin()
    #expect(heard.wait { $0.contains { $0.key == "before" && $0.origin != .thisProcess } })
    for number in 0..<20 {
      clock.milliseconds += 1
      (number.isMultiple(of: 2) ? here : there)["k"] = .integer(Int64(number))
      let isThere = heard.wait { changes in
        changes.contains { $0.new == .integer(Int64(number)) && $0.reason != .local }
      }
      #expect(isThere, "\(number)")
    }
    try kvsync("set", b.path, "foreign", "x", "--at", "\(clock.milliseconds)")
    #expect(heard.wait { $0.contains { $0.key == "foreign" && $0.reason != .local } })
    #expect(here["foreign"] == "x")
    session.cancel()
    token.cancel()
    back.cancel()
    #expect(failures.sets.isEmpty)
    #expect(reports.sets.allSatisfy { !$0[0].transfers.isEmpty })
  }

  @Test func aSessionWithNothingToDoWritesNothing() throws {
    here["k"] = 1
    let session = begin()
    #expect(reports.wait { $0.count == 1 })
    there["k"] = 2
    #expect(reports.wait { $0.count == 2 })
    let commits = Collected<Int>()
    let token = a.observeCommits {
      commits.append([1])
    } onFailure: {
      Issue.record($0)
    }
    // A third exchange by hand comes after the session's look at what the second one wrote.
    try a.merge(with: b)
    try a.merge(with: b)
    #expect(commits.sets.isEmpty)
    #expect(reports.sets.count == 2)
    token.cancel()
    session.cancel()
  }

  @Test func aCancelledOrReleasedSessionLetsGoOfItsFiles() throws {
    for isCancelled in [true, false] {
      let path = folder.path + "/c\(isCancelled).keepsake"
      weak var core: AnyObject?
      do {
        let c = try Device(path: path, clock: clock.wallClock)
        core = c.core
        var session: SyncSession? = SyncSession(a, c) { _ in
        } onFailure: {
          failures.append([$0])
        }
        if isCancelled { session?.cancel() }
        session = nil
      }
      let limit = ContinuousClock.now + .seconds(30)
      while core != nil, ContinuousClock.now < limit {}
      #expect(core == nil)
    }
    #expect(failures.sets.isEmpty)
  }

  @Test func whatComesOfAFailureIsReportedOnceAndTheSessionGoesOn() throws {
    let session = begin()
    try FileManager.default.moveItem(atPath: b.path, toPath: b.path + ".away")
    here["k"] = 1
    #expect(failures.wait { !$0.isEmpty })
    here["k"] = 2
    try FileManager.default.moveItem(atPath: b.path + ".away", toPath: b.path)
    here["k"] = 3
    #expect(reports.wait { $0.contains { $0.changes.contains { $0.change.new == 3 } } })
    #expect(there["k"] == 3)
    #expect(Set(failures.sets.flatMap { $0.map(\.description) }).count == failures.sets.count)
    session.cancel()
  }

  /// On the first device, on the second, or on both: each conflict is decided once.
  @Test(arguments: [[0], [1], [0, 1]])
  func aResolverOnEitherDeviceGetsEachConflictOnce(places: [Int]) throws {
    let decided = Collected<Conflict>()
    func set(_ round: Int) {
      for (place, store) in [here, there].enumerated() {
        clock.milliseconds += 1
        store["k\(round)"] = .string("\(place)")
      }
    }
    for round in 0..<10 { set(round) }
    let session = begin()
    let tokens = places.map { place in
      [here, there][place].resolveConflicts { decided.append([$0]) }
    }
    for round in 10..<40 { set(round) }
    func logs() throws -> [Conflict] { try [a, b].flatMap { try $0.conflicts() } }
    func name(_ conflict: Conflict) -> String {
      "\(conflict.key) \(conflict.lostTimestamp) \(conflict.lostOrigin)"
    }
    // In this order: what has met is in a log, and what is in a log is to be decided.
    func isOver() throws -> Bool {
      guard here["k39"] == there["k39"] else { return false }
      let found = try logs()
      let names = Set(decided.sets.flatMap { $0.map(name) })
      return found.allSatisfy { $0.isResolved && names.contains(name($0)) }
    }
    func waitUntilOver() throws -> Bool {
      let limit = ContinuousClock.now + .seconds(60)
      while try !isOver() {
        guard ContinuousClock.now < limit else { return false }
        usleep(1000)
      }
      return true
    }
    #expect(try waitUntilOver())
    session.cancel()
    for token in tokens { token.cancel() }
    // A handover that comes too late takes itself back.
    #expect(try waitUntilOver())
    let all = decided.sets.flatMap { $0 }
    #expect(all.count >= 10)
    let names = all.map(name)
    #expect(Set(names).count == names.count)
    #expect(try Set(logs().map(name)) == Set(names))
    #expect(failures.sets.isEmpty)
  }

  /// Two handles on the second device take over the same conflicts at the same moment.
  @Test func ofSeveralResolversInASessionOneGetsEachConflict() throws {
    let count = 200
    for round in 0..<count {
      for (place, store) in [here, there].enumerated() {
        clock.milliseconds += 1
        store["k\(round)"] = .string("\(place)")
      }
    }
    let decided = Collected<Conflict>()
    let handles = try (0..<4).map { _ in try CloudKeyValueStore(on: b) }
    let session = begin()
    let tokens = handles.map { $0.resolveConflicts { decided.append([$0]) } }
    func isOver() throws -> Bool {
      let logs = try [a, b].flatMap { try $0.conflicts() }
      return logs.count >= count && logs.allSatisfy(\.isResolved)
    }
    let limit = ContinuousClock.now + .seconds(60)
    while try !isOver(), ContinuousClock.now < limit { usleep(1000) }
    session.cancel()
    for token in tokens { token.cancel() }
    #expect(try isOver())
    let keys = decided.sets.flatMap { $0.map(\.key) }
    #expect(keys.sorted() == (0..<count).map { "k\($0)" }.sorted())
    #expect(failures.sets.isEmpty)
  }

  /// One conflict waits in each log.
  @Test func aDeviceThatIsBusyDoesNotKeepAResolverFromItsOwn() throws {
    for (key, devices) in [("mine", [a, b]), ("theirs", [b, a])] {
      for store in [here, there] {
        clock.milliseconds += 1
        store[key] = .integer(clock.milliseconds)
      }
      try devices[0].merge(with: devices[1])
    }
    let session = begin()
    let locker = try Locker(URL(fileURLWithPath: b.path), ["BEGIN IMMEDIATE"])
    let decided = Collected<String>()
    let token = here.resolveConflicts { decided.append([$0.key]) }
    #expect(decided.wait { $0 == ["mine"] })
    try locker.release()
    session.cancel()
    token.cancel()
  }

  /// Together more than one log has room for.
  @Test func whatIsTakenOverDoesNotPushOutWhatIsStillOpen() throws {
    for (device, key) in [(a, "mine"), (b, "theirs")] {
      try device.core.write { connection in
        try connection.run(
          """
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 33)
          INSERT INTO conflict (store, key, loser_tag, loser_value, loser_hlc, loser_origin,
            winner_tag, winner_hlc, winner_origin, at)
          SELECT 'cloud', ?1 || i, 6, zeroblob(1 << 20), 1, 2, 1, 3, 4, 0 FROM n
          """, [.text(key)])
        return ((), [])
      }
    }
    let session = begin()
    let decided = Collected<String>()
    let token = here.resolveConflicts { decided.append([$0.key]) }
    #expect(decided.wait { $0.count == 66 })
    session.cancel()
    token.cancel()
    let keys = ["mine", "theirs"].flatMap { name in (1...33).map { "\(name)\($0)" } }
    #expect(decided.sets.flatMap { $0 } == keys)
    #expect(failures.sets.isEmpty)
  }

  @Test func whatIsHeldComesInAtTheFirstExchangeAfterItsTime() throws {
    clock.milliseconds += 10 * 60_000
    here["k"] = "later"
    clock.milliseconds -= 10 * 60_000
    let session = begin()
    #expect(reports.wait { $0.count == 1 })
    #expect(reports.sets[0][0].transfers.contains { $0.held == 1 })
    #expect(!reports.sets[0][0].hasConverged)
    #expect(there["k"] == nil)
    clock.milliseconds += 6 * 60_000
    there["other"] = 1
    #expect(reports.wait { $0.contains { $0.hasConverged } })
    #expect(there["k"] == "later")
    session.cancel()
  }
}
