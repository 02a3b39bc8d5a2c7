// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
package import KeepsakeHub
package import KeepsakeHubServer
import KeepsakeValues
import Synchronization

/// A hub in memory behind a transport: the rows of accounts by the protocol's text. One request at
/// a time.
package final class ServedHub: Sendable {
  private let store = MemoryStore()
  private let time = Mutex<Int64>(0)
  package let limits: HubLimits

  package init(limits: HubLimits = HubLimits()) { self.limits = limits }

  /// The system's clock, in milliseconds since 1970.
  package var clock: Int64 {
    get { time.withLock(\.self) }
    set { time.withLock { $0 = newValue } }
  }

  /// A membership of a new account.
  package func membership() throws -> HubMembership {
    let membership = HubMembership.forNewAccount()
    try add(membership)
    return membership
  }

  /// A membership of another device of an account.
  package func membership(beside other: HubMembership) throws -> HubMembership {
    let membership = HubMembership(
      account: other.account, token: HubMembership.forNewAccount().token, device: nil)
    let rules = AccountRules(limits, at: clock)
    _ = try store.runNow(
      rules.invite(other.account, token: Array(other.token.utf8), code: Array("code".utf8)))
    _ = try store.runNow(
      rules.join(
        other.account, code: Array("code".utf8), name: "test",
        token: Array(membership.token.utf8)))
    return membership
  }

  private func add(_ membership: HubMembership) throws {
    _ = try store.runNow(
      AccountRules(limits, at: clock).create(
        membership.account, name: "test", token: Array(membership.token.utf8)))
  }

  package func answer(_ request: TransportRequest) -> ScriptedTransport.Reply {
    do {
      return try answer(RowsRequest(request))
    } catch let refusal as HubRefusal {
      return ScriptedTransport.Reply(
        refusal.status, refusal.json.text(), type: "application/problem+json",
        refusal.retryAfter.map { ["retry-after": "\($0)"] } ?? [:])
    } catch {
      return .problem(400, "malformed", "\(error)".replacing("\"", with: "'"))
    }
  }

  private func answer(_ request: RowsRequest) throws -> ScriptedTransport.Reply {
    let rules = LogRules(limits, at: clock)
    guard let base = request.base else { return try read(request, rules, 200) }
    if request.isForgetting {
      let keys = try HubLines(keys: request.body, limits).rows.map(\.key)
      let isDone = try store.runNow(rules.forget(keys, base: base, by: request.sender))
      return isDone
        ? ScriptedTransport.Reply([.head(status: 204, headers: [:]), .end])
        : try read(request, rules, 412)
    }
    let lines = try HubLines(push: request.body, limits)
    let push = HubPush(
      base: base, newest: request.read.lastNewest, rows: lines.rows, mark: lines.mark,
      vectors: lines.vectors)
    let pushed = try store.runNow(rules.push(push, by: request.sender, bits: HubMark.randomBits()))
    guard let pushed else { return try read(request, rules, 412) }
    return ScriptedTransport.Reply(
      200, #"{"newest":"\#(pushed.newest.text)","isNext":\#(pushed.isNext)}"#,
      type: "application/json")
  }

  private func read(
    _ request: RowsRequest, _ rules: LogRules, _ status: Int
  ) throws -> ScriptedTransport.Reply {
    let answer = try store.runNow(rules.read(request.read, by: request.sender))
    let headers = ["hub-clock": "\(answer.clock)", "etag": "W/\"\(answer.newest.text)\""]
    guard answer.isNew else {
      return ScriptedTransport.Reply([.head(status: 304, headers: headers), .end])
    }
    return ScriptedTransport.Reply(
      status, String(decoding: answer.text(limits), as: UTF8.self), type: "application/jsonl",
      headers)
  }
}

/// A request about rows.
private struct RowsRequest {
  let sender: HubSender
  let read: HubRead
  let base: HubMark?
  let isForgetting: Bool
  let body: [UInt8]

  init(_ request: TransportRequest) throws {
    let parts = request.url.pathComponents
    guard let place = parts.firstIndex(of: "accounts"), place + 2 < parts.count,
      let account = HexNumber.number(parts[place + 1]),
      let token = request.headers["Authorization"]?.dropFirst("Bearer ".count)
    else { throw HubRefusal.malformed("path \(request.url.path)") }
    var query: [String: String] = [:]
    for item in request.url.query?.split(separator: "&") ?? [] {
      let sides = item.split(separator: "=", maxSplits: 1).map(String.init)
      if sides.count == 2 { query[sides[0]] = sides[1] }
    }
    sender = HubSender(
      account: account, tokenHash: Array(token.utf8), replica: query["replica"] ?? "")
    func mark(_ text: String?) throws -> HubMark? {
      try text.map {
        guard let mark = HubMark(text: $0.filter { $0 != "\"" }) else {
          throw HubRefusal.malformed("mark \($0)")
        }
        return mark
      }
    }
    var read = HubRead(
      cursor: try mark(query["cursor"]) ?? .start, rows: query["rows"].flatMap { Int($0) } ?? 1_000,
      bytes: 1 << 20)
    read.after = query["after"].flatMap { Int64($0) }
    read.lastNewest = try mark(query["newest"])
    read.allVectors = query["vectors"] == "all"
    read.unless = try mark(request.headers["If-None-Match"])
    self.read = read
    base = try mark(request.headers["If-Match"])
    isForgetting = parts.last == "forget"
    body = request.body ?? []
  }
}
