// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import NIOCore

  extension Endpoints {
    /// All rows as they are when each page is read; a row that changes meanwhile may come again.
    /// The answer is cut off if the device is revoked, or if rows change faster than it reads.
    func export(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try token(request, account)
      let share = try inFlight.take(settings.limits.account.pageBytes, for: token)
      // What fails at once is an error, and no answer that is cut off.
      let first = try await page(account, token, after: 0)
      return Response(
        status: .ok, headers: [.contentType: "application/jsonl", .cacheControl: "no-store"],
        body: ResponseBody { writer in
          var page = first
          var left = 2 * settings.limits.account.rows + 10_000
          while true {
            left -= page.rows.count
            guard left >= 0 else {
              throw HubStoreError.unavailable("rows change faster than they are read")
            }
            var bytes: [UInt8] = []
            for row in page.rows { row.write(to: &bytes) }
            try await writer.write(ByteBuffer(bytes: bytes))
            guard page.hasMore, let last = page.rows.last else { break }
            page = try await self.page(account, token, after: last.number)
          }
          try await writer.finish(nil)
          withExtendedLifetime(share) {}
        })
    }

    private func page(
      _ account: Int64, _ token: Token, after number: Int64
    ) async throws -> (rows: [HubRow], hasMore: Bool) {
      let page = try await run(
        token, log.export(account, token: token.hash, after: number))
      metrics.count(page.rows.count, .given)
      return page
    }
  }
#endif
