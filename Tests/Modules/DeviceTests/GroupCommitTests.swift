// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Dispatch
import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

/// Threads that set at once share commits.
@Suite struct GroupCommitTests {
  private let device: Device

  init() throws { device = try .temporary() }

  private func set(
    _ key: String, _ value: StoredValue? = 1, _ durability: Durability = .crashSafe,
    waiting limit: Duration? = nil
  ) -> @Sendable () throws -> Void {
    { [device] in
      let write = LocalWrite(store: "cloud", key: key, value: value)
      try device.write([write], durability: durability, waiting: limit)
    }
  }

  private func keysByArrival() throws -> [String] {
    try device.tables.access { connection in
      try connection.all("SELECT key FROM entry ORDER BY sequence_number") { $0.text(0) }
    }
  }

  private func code(_ result: Result<Void, any Error>) -> KeepsakeError.Code? {
    guard case .failure(let error) = result else { return nil }
    return (error as? KeepsakeError)?.code
  }

  private func execute(_ sql: String) throws {
    try device.tables.access { try $0.run(sql) }
  }

  private func commits(_ body: () throws -> Void) rethrows -> UInt32 {
    let before = device.versions.commits
    try body()
    return device.versions.commits &- before
  }

  @Test func setsOfSeveralThreadsShareACommitInTheOrderInWhichTheyCame() throws {
    let heard = Heard()
    let token = heard.observe(device)
    let keys = (0..<20).map { "k\($0)" }
    let count = try commits {
      for result in try device.together(keys.map { set($0) }) { try result.get() }
    }
    token.cancel()
    #expect(count == 1)
    #expect(try keysByArrival() == keys)
    // To the observers each is a step of its own.
    let steps = heard.sets
    #expect(steps.map { $0.map(\.key) } == keys.map { [$0] })
    #expect(steps.map { $0[0].transaction } == (1...20).map(Int64.init))
  }

  @Test func aCommitIsSharedByNoMoreThanOtherProcessesCanWaitFor() throws {
    let count = try commits {
      for result in try device.together((0..<257).map { set("k\($0)") }) { try result.get() }
    }
    #expect(count == 2)
    #expect(try keysByArrival().count == 257)
  }

  @Test func aSetThatIsRefusedFailsAlone() throws {
    let large = StoredValue.string(String(repeating: "x", count: 1 << 20 + 1))
    let (results, count) = try {
      var results: [Result<Void, any Error>] = []
      let count = try commits {
        results = try device.together([
          set("a"), set("too large", large), set("b"), set(""), set("c"), set("d", large), set("e"),
        ])
      }
      return (results, count)
    }()
    let codes = results.map(code)
    #expect(codes == [nil, .invalidValue, nil, .invalidKey, nil, .invalidValue, nil])
    #expect(try keysByArrival() == ["a", "b", "c", "e"])
    #expect(count == 1)
  }

  @Test func aPowerSafeSetDoesNotShareALesserCommit() throws {
    let count = try commits {
      let results = try device.together([
        set("a"), set("b"), set("c", 1, .powerSafe), set("d"), set("e", 1, .powerSafe),
      ])
      for result in results { try result.get() }
    }
    #expect(count == 2)
    #expect(try keysByArrival() == ["a", "b", "c", "d", "e"])
  }

  /// The first of them leads the others.
  @Test(arguments: [0, 1])
  func aSetWhoseTimeIsOverIsNotMadeAndKeepsNoOtherOne(place: Int) throws {
    let late = DispatchSemaphore(value: 0)
    var sets = [set("a"), set("b")]
    let lateSet = set("late", waiting: .milliseconds(10))
    sets.insert(
      {
        defer { late.signal() }
        try lateSet()
      }, at: place)
    let results = try device.together(sets) { late.wait() }
    #expect(throws: KeepsakeError.self) { try results[place].get() }
    #expect(try keysByArrival() == ["a", "b"])
  }

  /// As a full disk does, which may end the whole transaction.
  @Test(arguments: ["ABORT", "ROLLBACK"])
  func aFailureInTheMiddleFailsAllThatShareTheCommit(action: String) throws {
    try execute(
      """
      CREATE TEMP TRIGGER fails BEFORE INSERT ON main.entry WHEN NEW.key = 'bad'
      BEGIN SELECT RAISE(\(action), 'it fails'); END
      """)
    let heard = Heard()
    let token = heard.observe(device)
    let results = try device.together(["a", "b", "bad", "c"].map { set($0) })
    token.cancel()
    for result in results { #expect(throws: KeepsakeError.self) { try result.get() } }
    #expect(try keysByArrival().isEmpty && heard.sets.isEmpty)
  }

  @Test func aCommitThatFailsFailsAllThatShareIt() throws {
    let results = try device.together((0..<4).map { set("k\($0)") }) {
      try device.tables.access { connection in
        _ = sqlite3_commit_hook(connection.handle, { _ in 1 }, nil)
      }
    }
    for result in results { #expect(throws: KeepsakeError.self) { try result.get() } }
    try device.tables.access { _ = sqlite3_commit_hook($0.handle, nil, nil) }
    #expect(try keysByArrival().isEmpty)
    try set("later")()
    #expect(try keysByArrival() == ["later"])
  }

  @Test func anObserverOfASharedCommitMaySet() throws {
    let token = device.observe { [device] changes in
      guard let key = changes.first?.key, !key.hasPrefix("of ") else { return }
      #expect(throws: Never.self) { try device.set("of \(key)", 1) }
    } onFailure: {
      Issue.record($0)
    }
    for result in try device.together((0..<8).map { set("k\($0)") }) { try result.get() }
    token.cancel()
    #expect(try keysByArrival().count == 16)
  }

  /// It runs when nothing is locked: within the transaction its set would be a part of it that is
  /// no step.
  @Test func whatAnObserverSetsWhenOthersChangesCannotBeReadIsHeardToo() throws {
    let heard = Heard()
    let token = device.observe { heard.append($0) } onFailure: { [device] _ in
      #expect(throws: Never.self) { try device.set("failed", 1) }
    }
    let results = try device.together([set("a"), set("b")]) { try execute("DROP TABLE peer") }
    for result in results { try result.get() }
    #expect(heard.wait { $0.count == 3 })
    token.cancel()
    #expect(Set(heard.sets.map { $0.map(\.key) }) == [["a"], ["b"], ["failed"]])
  }

  @Test func aClockIsAskedByTheThreadThatSets() throws {
    let (path, isOwn) = (device.path, Collected<Bool>())
    let results = try device.together(
      (0..<4).map { number in
        {
          let mine = ObjectIdentifier(Thread.current)
          let clock = WallClock {
            isOwn.append([ObjectIdentifier(Thread.current) == mine])
            return Date()
          }
          let handle = try Device(path: path, clock: clock)
          try handle.write([LocalWrite(store: "cloud", key: "k\(number)", value: 1)])
        }
      })
    for result in results { try result.get() }
    #expect(isOwn.sets.flatMap { $0 } == [true, true, true, true])
  }
}
