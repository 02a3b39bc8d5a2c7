// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  extension HTTPField.Name {
    /// The hub's clock, in milliseconds since 1970.
    static var hubClock: HTTPField.Name { HTTPField.Name("Hub-Clock") ?? .date }
  }

  extension Endpoints {
    /// Bodies up to this size are read before the condition is checked: that takes one transaction
    /// less. Pages of requests that mostly find nothing new end with this size.
    private static let smallBody = 64 << 10

    func read(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try token(request, account)
      return try await answer(
        try asked(request), by: try sender(request, account, token), token, .ok)
    }

    func push(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try token(request, account)
      let sender = try sender(request, account, token)
      let base = try mark(request.headers[.ifMatch], "If-Match")
      let bits = HubMark.randomBits()
      if try length(of: request) > Self.smallBody {
        let result = try await run(token, log.check(base, by: sender))
        if let result { return try await refused(result, request, sender, token) }
      }
      let (bytes, share) = try await body(of: request, "application/jsonl", token, context)
      defer { withExtendedLifetime(share) {} }
      let lines = try HubLines(push: bytes, settings.limits.account)
      let push = HubPush(base: base, rows: lines.rows, mark: lines.mark, vectors: lines.vectors)
      let result = try await run(token, log.push(push, by: sender, bits: bits))
      guard case .taken(let newest, let clock) = result else {
        return try await refused(result, request, sender, token)
      }
      metrics.count(lines.rows.count, .taken)
      return json(.object(["newest": .string(newest.text)]), .ok, fields(newest, clock))
    }

    /// A refusal has what the device has not read, so that it needs no other request.
    private func refused(
      _ result: HubPushResult, _ request: Request, _ sender: HubSender, _ token: Token,
      cursor: HubMark? = nil
    ) async throws -> Response {
      if case .reserved(let milliseconds) = result {
        throw Problem.reserved(seconds: Int((milliseconds + 999) / 1_000))
      }
      var asked = try asked(request)
      asked.unless = nil
      asked.bytes = min(asked.bytes, Self.smallBody)
      if let cursor, asked.cursor == .start { asked.cursor = cursor }
      return try await answer(asked, by: sender, token, .preconditionFailed)
    }

    func forget(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try token(request, account)
      let sender = try sender(request, account, token)
      let base = try mark(request.headers[.ifMatch], "If-Match")
      // Before its body takes memory.
      _ = try await run(token, accounts.authenticate(account, token: token.hash))
      let (bytes, share) = try await body(of: request, "application/jsonl", token, context)
      defer { withExtendedLifetime(share) {} }
      let lines = try HubLines(keys: bytes, settings.limits.account)
      let keys = lines.rows.map(\.key)
      guard try await run(token, log.forget(keys, base: base, by: sender)) else {
        return try await refused(.changed, request, sender, token, cursor: base)
      }
      return Response(status: .noContent)
    }

    // MARK: - What requests have

    private func sender(
      _ request: Request, _ account: Int64, _ token: Token
    ) throws -> HubSender {
      let replica = request.uri.queryParameters["replica"].map(String.init) ?? ""
      guard !replica.isEmpty else { throw Problem.malformed("its \"replica\" is missing") }
      guard replica.utf8.count <= settings.limits.account.replicaBytes else {
        throw HubRefusal.tooLarge(limit: "replicaBytes", settings.limits.account.replicaBytes)
      }
      return HubSender(account: account, tokenHash: token.hash, replica: replica)
    }

    private func asked(_ request: Request) throws -> HubRead {
      let query = request.uri.queryParameters
      let limits = settings.limits.account
      let cursor = try query["cursor"].map { try mark(String($0), "cursor") } ?? .start
      var read = HubRead(cursor: cursor, rows: limits.pageRows, bytes: limits.pageBytes)
      read.lastNewest = try query["newest"].map { try mark(String($0), "newest") }
      read.after = try number(query["after"].map(String.init), "after", 0...(1 << 53))
      if let rows = try number(query["rows"].map(String.init), "rows", 1...(1 << 53)) {
        read.rows = Int(rows)
      }
      read.unless = try request.headers[.ifNoneMatch].map { try mark($0, "If-None-Match") }
      if read.unless != nil { read.bytes = min(read.bytes, Self.smallBody) }
      return read
    }

    /// The mark of an entity tag, also of a weak one: a proxy that compresses makes it weak.
    private func mark(_ text: String?, _ name: String) throws -> HubMark {
      guard let text else {
        throw Problem(
          .preconditionRequired, "condition", "the request has no \(name)",
          cure: "send the newest mark that the device has read")
      }
      var tag = Substring(text)
      if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
      if tag.count > 1, tag.hasPrefix("\""), tag.hasSuffix("\"") {
        tag = tag.dropFirst().dropLast()
      }
      guard let mark = HubMark(text: tag) else {
        throw Problem.malformed("\(name) is no mark of a hub")
      }
      return mark
    }

    func number(
      _ text: String?, _ name: String, _ range: ClosedRange<Int64>
    ) throws -> Int64? {
      guard let text else { return nil }
      guard let number = Int64(text), range.contains(number) else {
        throw Problem.malformed(
          "\(name) is no number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }

    // MARK: - Answers

    private func answer(
      _ asked: HubRead, by sender: HubSender, _ token: Token, _ status: HTTPResponse.Status
    ) async throws -> Response {
      let share = try inFlight.take(asked.bytes, for: token)
      let (answer, isNoted) = try await run(token, log.read(asked, by: sender))
      if isNoted {
        // The device does not wait for it.
        store.run(log.note(cursor: asked.cursor, newest: answer.newest, by: sender)) { _ in }
      }
      var fields = fields(answer.newest, answer.clock)
      guard answer.isNew else { return Response(status: .notModified, headers: fields) }
      metrics.count(answer.rows.count, .given)
      let text = answer.text(settings.limits.account)
      // One row and the vectors come also with a page that was to be small.
      let rest = try inFlight.take(max(0, text.count - asked.bytes), for: token)
      fields[.contentType] = "application/jsonl"
      return Response(
        status: status, headers: fields,
        body: ResponseBody(contentLength: text.count) { writer in
          try await writer.write(ByteBuffer(bytes: text))
          try await writer.finish(nil)
          withExtendedLifetime((share, rest)) {}
        })
    }

    private func fields(_ newest: HubMark, _ clock: Int64) -> HTTPFields {
      [.eTag: "\"\(newest.text)\"", .hubClock: String(clock), .cacheControl: "no-store"]
    }
  }
#endif
