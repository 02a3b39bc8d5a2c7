// SPDX-License-Identifier: Apache-2.0

package import KeepsakeHubServer
import KeepsakeValues
import TestSupport

/// Replays what devices of the model ask of a hub, as `Tests/Conformance/hub_calls.py` writes it,
/// and compares each answer, and what the hub is afterwards.
package struct ModelReplay {
  package struct Difference: Error, CustomStringConvertible {
    package let description: String
  }

  private let store: any HubStore
  private let limits: HubLimits
  private var account: Int64 = 0
  /// All marks of the history, also dropped ones.
  private var marks: Set<HubMark> = []
  private static let token: [UInt8] = [1]

  /// - Parameter marks: the marks that an account keeps, as the model's `--marks`.
  private init(_ store: any HubStore, marks: Int) {
    self.store = store
    var limits = HubLimits()
    (limits.marks, limits.marksOfDay) = (marks, marks)
    // Otherwise more marks are kept than by the model.
    if marks < HubLimits().marks { limits.pushesToTrim = 1 }
    self.limits = limits
  }

  /// Plays random histories of the model on a store, `KEEPSAKE_FACTOR` times as many.
  ///
  /// - Returns: how many requests were compared.
  package static func play(
    on store: any HubStore, seed: Int, histories: Int, marks: Int, pages: Int
  ) async throws -> Int {
    let ending = try Command.run(
      Command.find("python3"),
      [
        Checkout.path("Tests/Conformance/hub_calls.py"), "--seed", "\(seed)", "--histories",
        "\(Seeds.factor * histories)", "--marks", "\(marks)", "--pages", "\(pages)",
      ], patience: 600)
    guard ending.code == 0 else { throw Difference(description: "\(ending)") }
    var replay = ModelReplay(store, marks: marks)
    return try await replay.run(ending.stdout)
  }

  /// - Returns: how many requests were compared.
  private mutating func run(_ text: String) async throws -> Int {
    var count = 0
    for line in text.split(separator: "\n") {
      let call = try JSON(parsing: String(line))
      do {
        try await run(call)
      } catch let difference as Difference {
        throw Difference(description: "request \(count): \(difference): \(line)")
      }
      count += 1
    }
    return count
  }

  private mutating func run(_ call: JSON) async throws {
    let now = call["now"]?.number ?? 0
    switch call["call"]?.text {
    case "history": try await begin(call["seed"]?.number ?? 0)
    case "read": try await read(call, now)
    case "push": try await push(call, now)
    case "forget":
      let keys = call["keys"]?.elements.map { Array(($0.text).utf8) } ?? []
      _ = try await store.run(
        log(now).forget(keys, base: HubMark(call["base"]), by: sender("compaction")))
    case "restore": try await restore(call["state"])
    case let name: throw Difference(description: "no such request: \(name ?? "")")
    }
    if let state = call["state"] { try await compare(state) }
  }

  private func log(_ now: Int64) -> LogRules { LogRules(limits, at: now) }

  private func sender(_ replica: String) -> HubSender {
    HubSender(account: account, tokenHash: Self.token, replica: replica)
  }

  private func change(_ rule: @escaping @Sendable (HubAccount) -> HubChange) async throws {
    try await store.run(
      HubWork(HubQuery(account, isWriting: true)) { state in
        ((), state.account.map(rule))
      })
  }

  private mutating func begin(_ seed: Int64) async throws {
    (account, marks) = (seed, [])
    _ = try await store.run(
      AccountRules(limits, at: 0).create(account, name: "device", token: Self.token))
  }

  // MARK: - Requests

  private func read(_ call: JSON, _ now: Int64) async throws {
    let sender = sender(call["replica"]?.text ?? "")
    var read = HubRead(
      cursor: HubMark(call["cursor"]), rows: Int(call["page"]?.number ?? 0), bytes: .max)
    read.after = call["after"]?.number
    read.lastNewest = HubMark(call["lastNewest"])
    read.allVectors = call["allVectors"] == .boolean(true)
    let answer = try await store.run(log(now).read(read, by: sender))
    let expected = call["answer"]
    try equal(answer.rows, expected?["rows"]?.elements.map(HubRow.init) ?? [], "rows")
    try equal(answer.isLast, expected?["isLast"] == .boolean(true), "isLast")
    try equal(answer.newest.bits, HubMark(expected?["newest"]).bits, "newest")
    try equal(answer.knowsCursor, expected?["isKnown"] == .boolean(true), "cursor")
    try equal(answer.clock, expected?["clock"]?.number, "clock")
    try equal(answer.deviceMark.map(Self.text) ?? "", expected?["mark"]?.text, "mark")
    try equal(
      answer.vectors.map(Self.text), expected?["vectors"]?.elements.map(\.text) ?? [],
      "vectors")
  }

  private mutating func push(_ call: JSON, _ now: Int64) async throws {
    let isLast = call["mark"]?.text != ""
    let push = HubPush(
      base: HubMark(call["base"]), newest: HubMark(call["lastNewest"]),
      rows: call["rows"]?.elements.map(HubRow.init) ?? [],
      mark: isLast ? Array((call["mark"]?.text ?? "").utf8) : nil,
      vectors: isLast ? Array((call["vectors"]?.text ?? "").utf8) : nil)
    let bits = call["bits"]?.number ?? 0
    let sender = sender(call["replica"]?.text ?? "")
    let pushed = try await store.run(log(now).push(push, by: sender, bits: bits))
    if let pushed { marks.insert(pushed.newest) }
    try equal(pushed != nil, call["isTaken"] == .boolean(true), "taken")
    try equal(pushed?.isNext ?? false, call["isNext"] == .boolean(true), "next")
  }

  private func restore(_ state: JSON?) async throws {
    try await change { _ in
      var change = HubChange()
      change.deletesAccount = true
      return change
    }
    _ = try await store.run(
      AccountRules(limits, at: 0).create(account, name: "device", token: Self.token))
    guard let state else { return }
    for mark in state["marks"]?.elements.map({ HubMark($0) }) ?? [] {
      try await change { _ in
        var change = HubChange()
        change.mark = mark
        return change
      }
    }
    for (id, mark) in state["replicas"]?.members ?? [] {
      let number = state["pushes"]?[id]?.number ?? 0
      let restored = HubReplica(id: id, number: number, mark: Array(mark.text.utf8))
      try await change { _ in
        var change = HubChange()
        change.replica = restored
        return change
      }
    }
    try await change { account in
      var (change, account) = (HubChange(), account)
      account.newest = HubMark(state["marks"]?.elements.last)
      account.forgotten = state["forgotten"]?.number ?? 0
      change.rows = state["rows"]?.elements.map(HubRow.init) ?? []
      account.rows = Int64(change.rows.count)
      account.bytes = change.rows.reduce(0) { $0 + $1.size }
      change.account = account
      return change
    }
    for line in (state["vectors"]?.text ?? "").split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let number = Int64(parts[0]) else { continue }
      let vectors = HubVectors(number: number, body: Array(parts[1].utf8))
      try await change { _ in
        var change = HubChange()
        change.vectors = HubChange.NewVectors(vectors, read: 0, bytes: .max)
        return change
      }
    }
  }

  // MARK: - The hub afterwards

  private func compare(_ expected: JSON) async throws {
    let all = Array(marks)
    var query = HubQuery(account, isWriting: false)
    query.page = HubPage(after: 0, rows: .max - 1, bytes: .max)
    query.marks = all
    let found = try await store.run(HubWork(query) { ($0, nil) })
    guard let account = found.account else { throw Difference(description: "no account") }
    let rows = expected["rows"]?.elements.map(HubRow.init) ?? []
    try equal(found.rows, rows, "the rows")
    try equal(account.rows, Int64(rows.count), "the number of rows")
    try equal(account.bytes, rows.reduce(0) { $0 + $1.size }, "the bytes")
    try equal(account.newest.number, expected["number"]?.number, "the number")
    try equal(account.forgotten, expected["forgotten"]?.number, "forgotten")
    let vectors = found.vectors.map { "\($0.number) \(Self.text($0.body))\n" }.joined()
    try equal(vectors, expected["vectors"]?.text, "the vectors")
    let kept = expected["marks"]?.elements.map { HubMark($0) } ?? []
    try equal(account.newest.bits, kept.last?.bits ?? 0, "the newest mark")
    try equal(account.newest.time, kept.last?.time ?? 0, "its time")
    let bits = Set(kept.map(\.bits))
    for (mark, isThere) in zip(all, found.hasMarks) {
      try equal(isThere, bits.contains(mark.bits), "mark \(mark)")
    }
    for (id, mark) in expected["replicas"]?.members ?? [] {
      var query = HubQuery(self.account, isWriting: false)
      query.replica = id
      let found = try await store.run(HubWork(query) { ($0.replica?.mark, nil) })
      try equal(found.map(Self.text), mark.text, "the mark of \(id)")
    }
  }

  private func equal<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
    guard found != expected else { return }
    throw Difference(description: "\(what): \(found), and in the model \(expected)")
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension JSON {
  fileprivate var number: Int64 {
    if case .integer(let number) = self { number } else { 0 }
  }

  fileprivate var text: String {
    if case .string(let text) = self { text } else { "" }
  }

  fileprivate var elements: [JSON] {
    if case .array(let elements) = self { elements } else { [] }
  }

  fileprivate var members: [(String, JSON)] {
    if case .object(let members) = self { members.map { ($0.name, $0.value) } } else { [] }
  }
}

extension HubMark {
  fileprivate init(_ json: JSON?) {
    self.init(
      number: json?["number"]?.number ?? 0, bits: json?["bits"]?.number ?? 0,
      time: json?["time"]?.number ?? 0)
  }
}

extension HubRow {
  fileprivate init(_ json: JSON) {
    self.init(
      key: Array((json["key"]?.text ?? "").utf8), body: Array((json["row"]?.text ?? "").utf8),
      isDeleted: json["isDeleted"] == .boolean(true), number: json["number"]?.number ?? 0)
  }
}
