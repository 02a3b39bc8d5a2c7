// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
import KeepsakeHubServer
import Testing

/// Rules that the model does not have: limits, and what old replicas cost.
@Suite struct LogRulesTests {
  private let store = MemoryStore()

  private func push(
    _ rows: [(String, Int)], _ limits: HubLimits, replica: String = "r", at now: Int64 = 0
  ) async throws -> HubMark? {
    let sender = HubSender(account: 1, tokenHash: [1], replica: replica)
    let base = try await store.run(AccountRules(limits, at: 0).authenticate(1, token: [1]))
    let rows = rows.map { HubRow(key: Array($0.0.utf8), body: [UInt8](repeating: 48, count: $0.1)) }
    return try await store.run(
      LogRules(limits, at: now).push(
        HubPush(base: base.newest, rows: rows, mark: [1], vectors: [1]), by: sender,
        bits: HubMark.randomBits()))?.newest
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
    limits.pushesToTrim = 1
    for number in 1...30 { _ = try await push([("k", 1)], limits, replica: "r\(number)") }
    for (id, isThere) in [("r20", false), ("r21", true), ("r30", true)] {
      var query = HubQuery(1, isWriting: false)
      query.replica = id
      #expect(try await store.run(HubWork(query) { ($0.replica != nil, nil) }) == isThere, "\(id)")
    }
  }

  @Test func aDeviceThatWasAwayForManyPushesReadsOnlyWhatIsNew() async throws {
    try await store.addAccount(1)
    var limits = HubLimits()
    (limits.pushesToTrim, limits.marks, limits.marksOfDay) = (1, 10, 100)
    let first = try #require(try await push([("k", 1)], limits))
    for _ in 1..<100 { _ = try await push([("slider", 1)], limits) }
    let sender = HubSender(account: 1, tokenHash: [1], replica: "r")
    func knows(_ cursor: HubMark) async throws -> Bool {
      let read = HubRead(cursor: cursor, rows: 1, bytes: 1)
      return try await store.run(LogRules(limits, at: 0).read(read, by: sender)).knowsCursor
    }
    #expect(try await knows(first))
    let second = try #require(try await push([("slider", 1)], limits))
    #expect(try await !knows(first))
    let day: Int64 = 86_400_000
    for _ in 1...10 { _ = try await push([("slider", 1)], limits, at: day) }
    #expect(try await knows(second))
    _ = try await push([("slider", 1)], limits, at: day + 1)
    #expect(try await !knows(second))
  }

  @Test func ofTooManyVectorsTheOldestGo() async throws {
    try await store.addAccount(1)
    var limits = HubLimits()
    limits.vectorBytes = 5
    for (number, size) in [2, 2, 2, 1, 6].enumerated() {
      let push = HubPush(
        base: .start, rows: [HubRow(key: [UInt8(number)], body: [0x30])], mark: [1],
        vectors: [UInt8](repeating: 0x30, count: size))
      let sender = HubSender(account: 1, tokenHash: [1], replica: "\(number)")
      let work = LogRules(limits, at: 0).push(push, by: sender, bits: Int64(number) + 1)
      let isNext = try #require(try await store.run(work)).isNext
      #expect(isNext == (number == 0))
      let read = HubRead(cursor: .start, rows: 1, bytes: 1)
      let answer = try await store.run(LogRules(limits, at: 0).read(read, by: sender))
      let sizes = [[2], [2, 2], [2, 2], [2, 2, 1], [6]][number]
      #expect(answer.vectors.map(\.count) == sizes)
    }
  }

  /// Between two pages of its first reading others may forget a row that it has read.
  @Test func aFirstReadingInPagesNoticesWhatWasForgotten() async throws {
    try await store.addAccount(1)
    let sender = HubSender(account: 1, tokenHash: [1], replica: "r")
    let (limits, key) = (HubLimits(), Array("k".utf8))
    func push(_ base: HubMark, isDeleted: Bool) async throws -> HubMark {
      let rows = [HubRow(key: key, body: [0x30], isDeleted: isDeleted)]
      let push = HubPush(base: base, rows: rows, mark: nil, vectors: nil)
      let pushed = try await store.run(LogRules(limits, at: 0).push(push, by: sender, bits: 7))
      return try #require(pushed).newest
    }
    let first = try await push(.start, isDeleted: false)
    let second = try await push(first, isDeleted: true)
    #expect(
      try await store.run(LogRules(limits, at: 0).forget([key], base: second, by: sender)))
    for (newest, isKnown): (HubMark?, Bool) in [(nil, true), (first, false), (second, true)] {
      var read = HubRead(cursor: .start, rows: 1, bytes: 1)
      (read.lastNewest, read.after) = (newest, 1)
      let answer = try await store.run(LogRules(limits, at: 0).read(read, by: sender))
      #expect(answer.knowsCursor == isKnown, "\(String(describing: newest))")
    }
  }
}
