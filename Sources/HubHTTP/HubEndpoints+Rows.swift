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
    static var hubRowBytes: HTTPField.Name { HTTPField.Name("Hub-Row-Bytes") ?? .range }
    /// Makes nginx pass each event on at once.
    static var buffering: HTTPField.Name { HTTPField.Name("X-Accel-Buffering") ?? .cacheControl }
  }

  extension HubEndpoints {
    /// The size of the pieces in which an answer is written.
    private static let pieceBytes = 64 << 10

    /// The page size of refusals, and of requests that mostly find nothing new.
    private static let smallPage = 64 << 10

    func read(_ request: Request, _ context: HubContext) async throws -> Response {
      try await answer(try asked(request), by: try await sender(request, context), status: .ok)
    }

    func push(_ request: Request, _ context: HubContext) async throws -> Response {
      let sender = try await sender(request, context)
      guard !sender.replica.isEmpty else {
        throw HubRefusal.malformed("its \"replica\" is missing")
      }
      let base = try mark(request.headers[.ifMatch], named: "If-Match")
      let newest = try asked(request).lastNewest
      let (bytes, share) = try await body(of: request, from: sender, context)
      defer { withExtendedLifetime(share) {} }
      let lines = try HubLines(push: bytes, settings.limits.account)
      let push = HubPush(
        base: base, newest: newest, rows: lines.rows, mark: lines.mark, vectors: lines.vectors)
      let result = try await run(log.push(push, by: sender, bits: HubMark.randomBits()))
      guard let result else { return try await refused(request, sender) }
      metrics.count(lines.rows.count, .taken)
      return json(
        .object(["newest": .string(result.newest.text), "isNext": .boolean(result.isNext)]), .ok,
        fields(newest: result.newest, clock: result.newest.time))
    }

    /// A refusal has the rows that the device has not read, so that it needs no other request.
    private func refused(_ request: Request, _ sender: HubSender) async throws -> Response {
      var asked = try asked(request)
      asked.unless = nil
      asked.bytes = min(asked.bytes, Self.smallPage)
      return try await answer(asked, by: sender, status: .preconditionFailed)
    }

    func forget(_ request: Request, _ context: HubContext) async throws -> Response {
      let sender = try await sender(request, context)
      let base = try mark(request.headers[.ifMatch], named: "If-Match")
      let (bytes, share) = try await body(of: request, from: sender, context)
      defer { withExtendedLifetime(share) {} }
      let keys = try HubLines(keys: bytes, settings.limits.account).rows.map(\.key)
      guard try await run(log.forget(keys, base: base, by: sender)) else {
        return try await refused(request, sender)
      }
      return Response(status: .noContent)
    }

    // MARK: - Parts of requests

    private func sender(
      _ request: Request, _ context: HubContext
    ) async throws -> HubSender {
      let account = try context.account
      let token = try await token(request, account)
      let replica = request.uri.queryParameters["replica"].map(String.init) ?? ""
      guard replica.utf8.count <= settings.limits.account.replicaBytes else {
        throw HubRefusal.tooLarge(limit: "replicaBytes", settings.limits.account.replicaBytes)
      }
      return HubSender(account: account, tokenHash: token.hash, replica: replica)
    }

    private func asked(_ request: Request) throws -> HubRead {
      let query = request.uri.queryParameters
      let limits = settings.limits.account
      let cursor = try query["cursor"].map { try mark(String($0), named: "cursor") } ?? .start
      var read = HubRead(cursor: cursor, rows: limits.pageRows, bytes: limits.pageBytes)
      read.lastNewest = try query["newest"].map { try mark(String($0), named: "newest") }
      read.allVectors = query["vectors"] == "all"
      read.after = try number(query["after"].map(String.init), named: "after", in: 0...(1 << 53))
      if let rows = try number(query["rows"].map(String.init), named: "rows", in: 1...(1 << 53)) {
        read.rows = Int(rows)
      }
      read.unless = try request.headers[.ifNoneMatch].map { try mark($0, named: "If-None-Match") }
      if read.unless != nil { read.bytes = min(read.bytes, Self.smallPage) }
      return read
    }

    /// The mark of an entity tag, also of a weak one: a proxy that compresses makes it weak.
    private func mark(_ text: String?, named name: String) throws -> HubMark {
      guard let text else {
        throw HubRefusal(428, "condition", "the request has no \(name)")
      }
      var tag = Substring(text)
      if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
      if tag.count > 1, tag.hasPrefix("\""), tag.hasSuffix("\"") {
        tag = tag.dropFirst().dropLast()
      }
      guard let mark = HubMark(text: tag) else {
        throw HubRefusal.malformed("\(name) is no mark of a hub")
      }
      return mark
    }

    func number(
      _ text: String?, named name: String, in range: ClosedRange<Int64>
    ) throws -> Int64? {
      guard let text else { return nil }
      guard let number = Int64(text), range.contains(number) else {
        throw HubRefusal.malformed(
          "\(name) is no number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }

    // MARK: - Answers

    private func answer(
      _ asked: HubRead, by sender: HubSender, status: HTTPResponse.Status
    ) async throws -> Response {
      let share = try inFlight.take(asked.bytes, for: sender)
      let answer = try await run(log.read(asked, by: sender))
      var fields = fields(newest: answer.newest, clock: answer.clock)
      guard answer.isNew else {
        fields[.hubRowBytes] = String(settings.limits.account.rowBytes)
        return Response(status: .notModified, headers: fields)
      }
      metrics.count(answer.rows.count, .given)
      let text = answer.text(settings.limits.account)
      // A page has at least one row, and the vectors, so it may be larger than requested.
      let rest = try inFlight.take(max(0, text.count - asked.bytes), for: sender)
      fields[.contentType] = "application/jsonl"
      return Response(
        status: status, headers: fields,
        body: ResponseBody(contentLength: text.count) { writer in
          // `readTimeout` is for each piece, so that a slow device can read a long answer.
          for start in stride(from: 0, to: text.count, by: Self.pieceBytes) {
            let piece = text[start..<min(start + Self.pieceBytes, text.count)]
            try await writer.write(ByteBuffer(bytes: piece))
          }
          try await writer.finish(nil)
          withExtendedLifetime((share, rest)) {}
        })
    }

    private func fields(newest: HubMark, clock: Int64) -> HTTPFields {
      [.eTag: "\"\(newest.text)\"", .hubClock: String(clock), .cacheControl: "no-store"]
    }
  }
#endif
