// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHub
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues
  import NIOCore

  extension Endpoints {
    func invite(_ member: HubMember) async throws -> Response {
      let code = Secrets.random()
      let hash = Secrets.hash(code)
      let end = try await accounts(at: settings.now()) { try $0.invite(by: member, code: hash) }
      return json(.object(["code": code.json, "end": .integer(end)]), .created)
    }

    func list(_ member: HubMember) async throws -> Response {
      let all = try await accounts(at: settings.now()) { try $0.list(for: member) }
      let retired = try await account(member.account) { try HubRules.retired($0) }
      let devices = all.map { device in
        JSON.object([
          "device": .integer(device.number), "name": device.name.json,
          "created": .integer(device.created), "lastUse": .integer(device.lastUse),
          "replica": device.replica?.description.json,
          "revoked": device.revocation.map { revocation in
            .object(["date": .integer(revocation.date), "by": .integer(revocation.member)])
          },
          "retired": device.replica.map(retired.contains) == true ? .boolean(true) : nil,
          "self": device.number == member.number ? .boolean(true) : nil,
        ])
      }
      return json(.object(["account": .integer(member.account), "devices": .array(devices)]))
    }

    func revoke(_ text: Substring, _ member: HubMember) async throws -> Response {
      let number = try number(text)
      let gone = try await accounts(at: settings.now()) { try $0.revoke(number, by: member) }
      note("a device was revoked", member, device: number)
      listeners.end(member.account, device: number)
      return try await retire(gone, of: member.account)
    }

    func retire(_ text: Substring, _ member: HubMember) async throws -> Response {
      let number = try number(text)
      let device = try await accounts(at: settings.now()) { try $0.device(number, for: member) }
      note("a device was retired", member, device: number)
      return try await retire(device.replica, of: member.account)
    }

    /// - Parameter device: nil for one that has never come, which nothing waits for.
    private func retire(_ device: ReplicaID?, of number: Int64) async throws -> Response {
      if let device { try await account(number) { try HubRules.retire(device, $0) } }
      return Response(status: .noContent)
    }

    private func number(_ text: Substring) throws -> Int64 {
      guard let number = Int64(text) else { throw Problem.path("a device has a number") }
      return number
    }

    func delete(_ request: Request, _ member: HubMember) async throws -> Response {
      guard request.uri.queryParameters["confirm"].map(String.init) == "\(member.account)" else {
        throw Problem(
          .badRequest, "confirm", "deleting takes ?confirm= with the account's number",
          cure: "repeat with confirm=\(member.account)")
      }
      try await accounts(at: settings.now()) { try $0.delete(by: member) }
      note("an account was deleted", member)
      listeners.end(member.account)
      return Response(status: .noContent)
    }

    /// All rows as they stand when each page is read; one that changes meanwhile comes again. It is
    /// cut off when its device is revoked, and where so many rows change that it would not end.
    func export(_ member: HubMember) async throws -> Response {
      // What fails at once is told as an error, and not by an answer that is cut off.
      let first = try await page(of: member.account, after: 0)
      return Response(
        status: .ok, headers: [.contentType: "application/jsonl", .cacheControl: "no-store"],
        body: ResponseBody { writer in
          var page = first
          var left = 2 * Int(first.count) + 10_000
          while true {
            left -= page.rows.count
            guard left >= 0 else {
              throw HubDatabaseError.unavailable("rows change faster than they are read")
            }
            for row in page.rows { try await writer.write(ByteBuffer(bytes: row.line())) }
            guard page.hasMore, let last = page.rows.last else { break }
            _ = try await accounts(at: settings.now()) { try $0.authenticate(member.tokenHash) }
            page = try await self.page(of: member.account, after: last.seq)
          }
          try await writer.finish(nil)
        })
    }

    /// - Returns: `count` is how many rows the account has.
    private func page(
      of account: Int64, after seq: Int64
    ) async throws -> (rows: [HubAnswer.Row], hasMore: Bool, count: Int64) {
      let page = try await self.account(account) { tables in
        let stores = try tables.lastOfEachStore().mapValues { _ in Int64(0) }
        let account = try tables.account
        let (rows, hasMore) = try tables.rows(
          after: stores, and: seq, through: account.seq, except: EchoRange(),
          HubRequest.PageLimit())
        return (rows: rows, hasMore: hasMore, count: account.rows)
      }
      metrics.count(page.rows.count, .given)
      return page
    }
  }
#endif
