// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
import KeepsakeHubServer
import Testing

/// Rules that the model does not have: limits, and what old replicas cost.
@Suite struct LogRulesTests {
  private let store = MemoryStore()

  private func push(
    _ rows: [(String, Int)], _ limits: HubLimits
  ) async throws -> HubPushResult {
    let sender = HubSender(account: 1, tokenHash: [1], replica: "r")
    let base = try await store.run(AccountRules(limits, at: 0).authenticate(1, token: [1]))
    let rows = rows.map { HubRow(key: Array($0.0.utf8), body: [UInt8](repeating: 48, count: $0.1)) }
    return try await store.run(
      LogRules(limits, at: 0).push(
        HubPush(base: base, rows: rows, mark: [1], vectors: [1]), by: sender,
        bits: HubMark.randomBits()))
  }

  @Test func anAccountGrowsToItsLimitsAndNotBeyond() async throws {
    try await store.addAccount(1)
    var limits = HubLimits()
    (limits.rows, limits.bytes) = (3, 100)
    _ = try await push([("a", 10), ("b", 10), ("c", 10)], limits)
    await #expect(throws: HubRefusal.full(limit: "rows", 3)) { try await push([("d", 1)], limits) }
    _ = try await push([("a", 77)], limits)
    await #expect(throws: HubRefusal.full(limit: "bytes", 100)) {
      try await push([("a", 78)], limits)
    }
    // Beyond a limit that was lowered an account may still shrink.
    limits.bytes = 10
    _ = try await push([("a", 76)], limits)
    await #expect(throws: HubRefusal.full(limit: "bytes", 10)) {
      try await push([("a", 77)], limits)
    }
  }

  @Test func aDeviceThatMakesUpReplicaIDsIsRememberedUnderTheNewestOfThem() async throws {
    try await store.addAccount(1)
    var limits = HubLimits()
    limits.replicas = 10
    for number in 1...30 {
      let sender = HubSender(account: 1, tokenHash: [1], replica: "r\(number)")
      try await store.run(
        LogRules(limits, at: Int64(number)).note(cursor: .start, newest: .start, by: sender))
    }
    for (id, isThere) in [("r20", false), ("r21", true), ("r30", true)] {
      var query = HubQuery(1, isWriting: false)
      query.replica = id
      #expect(try await store.run(HubWork(query) { ($0.replica != nil, nil) }) == isThere, "\(id)")
    }
  }

  /// Between two pages of its first reading others may forget a row that it has read.
  @Test func aFirstReadingInPagesNoticesWhatWasForgotten() async throws {
    try await store.addAccount(1)
    let sender = HubSender(account: 1, tokenHash: [1], replica: "r")
    let (limits, key) = (HubLimits(), Array("k".utf8))
    func push(_ base: HubMark, isDeleted: Bool) async throws -> HubMark {
      let rows = [HubRow(key: key, body: [0x30], isDeleted: isDeleted)]
      let result = try await store.run(
        LogRules(limits, at: 0).push(
          HubPush(base: base, rows: rows, mark: nil, vectors: nil), by: sender, bits: 7))
      guard case .taken(let newest, _) = result else { throw HubRefusal.taken }
      return newest
    }
    let first = try await push(.start, isDeleted: false)
    let second = try await push(first, isDeleted: true)
    #expect(
      try await store.run(LogRules(limits, at: 0).forget([key], base: second, by: sender)))
    for (newest, state): (HubMark?, HubAnswer.CursorState) in [
      (nil, .known), (first, .old), (second, .known),
    ] {
      var read = HubRead(cursor: .start, rows: 1, bytes: 1)
      (read.lastNewest, read.after) = (newest, 1)
      let answer = try await store.run(LogRules(limits, at: 0).read(read, by: sender)).answer
      #expect(answer.cursor == state, "\(String(describing: newest))")
    }
  }

  @Test func aClockThatWasSetBackProlongsNoReservation() async throws {
    try await store.addAccount(1)
    func push(_ replica: String, _ base: HubMark, at now: Int64) async throws -> HubPushResult {
      try await store.run(
        LogRules(HubLimits(), at: now).push(
          HubPush(
            base: base, rows: [HubRow(key: [0x6B], body: [0x30])], mark: nil, vectors: nil),
          by: HubSender(account: 1, tokenHash: [1], replica: replica), bits: now + 1))
    }
    guard case .taken(let newest, _) = try await push("a", .start, at: 0) else { return }
    for _ in 0..<2 { #expect(try await push("b", .start, at: 100_000) == .changed) }
    #expect(try await push("a", newest, at: 100_001) == .reserved(milliseconds: 4_999))
    guard case .taken = try await push("a", newest, at: 30_000) else {
      Issue.record("the reservation goes on")
      return
    }
  }

  /// A large row takes a slow uplink longer than others take for their pushes.
  @Test func aLargeBodyThatIsOnItsWayProlongsItsReservation() async throws {
    try await store.addAccount(1)
    let rules = { LogRules(HubLimits(), at: $0) }
    func sender(_ replica: String) -> HubSender {
      HubSender(account: 1, tokenHash: [1], replica: replica)
    }
    func push(_ replica: String, _ base: HubMark, at now: Int64) async throws -> HubPushResult {
      let row = HubRow(key: [0x6B], body: [0x30])
      return try await store.run(
        rules(now).push(
          HubPush(base: base, rows: [row], mark: [1], vectors: [1]), by: sender(replica),
          bits: now + 1))
    }
    guard case .taken(let newest, _) = try await push("a", .start, at: 0) else { return }
    // The first check reserves nothing: there was no refusal.
    #expect(try await store.run(rules(1).check(newest, by: sender("slow"))) == nil)
    for _ in 0..<2 { #expect(try await push("slow", .start, at: 10) == .changed) }
    #expect(try await store.run(rules(20).check(newest, by: sender("slow"))) == nil)
    #expect(try await push("a", newest, at: 50_020) == .reserved(milliseconds: 10_000))
    guard case .taken(let last, _) = try await push("slow", newest, at: 50_030) else {
      Issue.record("the account is not reserved")
      return
    }
    guard case .taken = try await push("a", last, at: 50_040) else {
      Issue.record("the reservation outlives its push")
      return
    }
  }

  @Test func aRequestWithNothingNewIsNotedOnceADay() async throws {
    try await store.addAccount(1)
    let sender = HubSender(account: 1, tokenHash: [1], replica: "r")
    func isNoted(at now: Int64) async throws -> Bool {
      let log = LogRules(HubLimits(), at: now)
      let read = HubRead(cursor: .start, rows: 1, bytes: 1)
      let (answer, isNoted) = try await store.run(log.read(read, by: sender))
      if isNoted {
        try await store.run(log.note(cursor: .start, newest: answer.newest, by: sender))
      }
      return isNoted
    }
    #expect(try await isNoted(at: 1))
    #expect(try await !isNoted(at: 599_999))
    #expect(try await isNoted(at: 86_400_001))
  }
}
