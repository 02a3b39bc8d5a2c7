// SPDX-License-Identifier: Apache-2.0
//
// The statements of a job's query, which share a round trip with those of other jobs. A push that
// SQL decides has statements of its own (`HubFastPush`).

#if PostgreSQL
  import KeepsakeHubServer

  extension HubQuery {
    static let postgresStatements = HubStatement.all + [lock, outlines, rows]

    /// Each transaction that changes an account begins with this statement, so that no two overlap.
    private static let lock = HubStatement("lock", HubStatement.account.sql + " FOR UPDATE")
    private static let outlines = HubStatement.outlines("= ANY ($2::bytea[])")
    private static let rows = HubStatement(
      "rows",
      """
      SELECT number, is_deleted, key, body, available FROM (
        SELECT number, is_deleted, key, body, count(*) OVER () AS available,
          row_number() OVER (ORDER BY number) AS place,
          sum(octet_length(key) + octet_length(body)) OVER (ORDER BY number) AS size
        FROM (
          SELECT number, is_deleted, key, body FROM keepsake_row
          WHERE account = $1 AND number > 0 AND number > $4 AND \(HubStatement.isNew)
          ORDER BY number LIMIT $5::bigint + 1
        ) AS r
      ) AS p WHERE place = 1 OR place <= $5 AND size <= $6::bigint
      """)

    /// In the order in which `state` reads their results.
    var postgresCalls: [HubCall] {
      let id = HubCell.number(account)
      var all = [HubCall(isWriting ? Self.lock : .account, id)] + calls
      if !keys.isEmpty { all.append(HubCall(Self.outlines, id, .blobs(keys))) }
      // The rows are read after the vectors, which must not cover rows that the page lacks.
      if let page {
        let (number, bits) = (page.unless?.number ?? -1, page.unless?.bits ?? 0)
        all.append(
          HubCall(
            Self.rows, id, .number(number), .number(bits), .number(page.after),
            .number(Int64(page.rows)), .number(Int64(page.bytes))))
      }
      return all
    }

    func state(_ results: ArraySlice<PostgresResult>) -> HubState {
      var (state, results) = (HubState(), results)
      state.account = results.popFirst()?.cells.first.map { HubAccount($0) }
      guard state.account != nil else { return state }
      if page != nil, let rows = results.popLast() {
        (state.rows, state.hasMore) = Self.rows(rows)
      }
      state.take(results.map(\.cells), of: self)
      return state
    }

    private static func rows(_ result: PostgresResult) -> (rows: [HubRow], hasMore: Bool) {
      let rows = (0..<result.count).map { row in
        HubRow(
          key: Array(result.bytes(row, 2)), body: Array(result.bytes(row, 3)),
          isDeleted: result.number(row, 1) != 0, number: result.number(row, 0))
      }
      return (rows, !rows.isEmpty && result.number(0, 4) > rows.count)
    }
  }
#endif
