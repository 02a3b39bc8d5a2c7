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
    let token = a.observe(keys: nil) { _ in
      commits.append([1])
    } onFailure: {
      Issue.record($0)
    }.token
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
      weak var storage: AnyObject?
      do {
        let c = try Device(path: path, clock: clock.wallClock)
        storage = c.storageForTests
        var session: SyncSession? = SyncSession(a, c) { _ in
        } onFailure: {
          failures.append([$0])
        }
        if isCancelled { session?.cancel() }
        session = nil
      }
      let limit = ContinuousClock.now + .seconds(30)
      while storage != nil, ContinuousClock.now < limit {}
      #expect(storage == nil)
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

  @Test func ofSeveralResolversInASessionOneGetsEachConflict() throws {
    let count = 200
    for round in 0..<count {
      for (place, store) in [here, there].enumerated() {
        clock.milliseconds += 1
        store["k\(round)"] = .string("\(place)")
      }
    }
    let decided = Collected<Conflict>()
    let handles = try (0..<4).map { _ in try CloudKeyValueStore(on: a) }
    let session = begin()
    let tokens = handles.map { $0.resolveConflicts { decided.append([$0]) } }
    func isOver() throws -> Bool {
      let conflicts = try a.conflicts()
      return conflicts.count == count && conflicts.allSatisfy(\.isResolved)
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

  @Test func aRowFromTheFutureComesInAtTheFirstSyncAfterItsTime() throws {
    clock.milliseconds += 10 * 60_000
    here["k"] = "later"
    clock.milliseconds -= 10 * 60_000
    let session = begin()
    try #require(reports.wait { $0.count == 1 })
    #expect(reports.sets[0][0].transfers.contains { $0.waiting == 1 })
    #expect(!reports.sets[0][0].hasConverged)
    #expect(there["k"] == nil)
    clock.milliseconds += 6 * 60_000
    there["other"] = 1
    #expect(reports.wait { $0.contains { $0.hasConverged } })
    #expect(there["k"] == "later")
    session.cancel()
  }
}
