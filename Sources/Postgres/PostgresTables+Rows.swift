// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  /// Which rows are asked for: of each store, sequence numbers after one and up to another.
  struct PageKey: Hashable {
    struct Span: Hashable {
      var store: ByteText
      var after: Int64
      var through: Int64
    }

    var spans: [Span] = []
    var rows: Int
    var bytes: Int

    init(
      _ cursors: [ByteText: Int64], _ after: Int64, _ through: Int64, _ echo: EchoRange,
      _ limit: HubRequest.PageLimit
    ) {
      (rows, bytes) = (limit.rows, limit.bytes)
      for (store, cursor) in cursors.sorted(by: { $0.key < $1.key }) {
        let start = max(cursor, after)
        // Around the echo, if it is one.
        let parts =
          echo.lower < echo.upper
          ? [(start, min(through, echo.lower)), (max(start, echo.upper), through)]
          : [(start, through)]
        for (lower, upper) in parts where lower < upper {
          spans.append(Span(store: store, after: lower, through: upper))
        }
      }
    }
  }

  extension PostgresTables {
    static let columns = "tag, hlc, origin, kind, store, key, value, seq"

    static let rowStatements = [
      rowsAt, page, putRows, tombstones, dropRows, rowsOfOrigin, removeRows,
    ]
    /// One look-up for each key: `LIMIT` keeps PostgreSQL from reading all rows of the account and
    /// comparing each with each of these, which seems cheaper to it while it has no statistics.
    static let rowsAt = Statement(
      "rows_at",
      """
      SELECT r.* FROM unnest($2::bytea[], $3::bytea[]) AS a (store, key)
      CROSS JOIN LATERAL (
        SELECT \(columns) FROM keepsake_row AS r
        WHERE r.account = $1 AND r.store = a.store AND r.key = a.key LIMIT 1
      ) AS r
      """)
    /// `total` counts one row beyond the limit.
    static let page = Statement(
      "page",
      """
      SELECT \(columns), total FROM (
        SELECT \(columns), count(*) OVER () AS total, row_number() OVER (ORDER BY seq) AS place,
          sum(octet_length(key) + CASE kind WHEN 0 THEN 8 ELSE octet_length(value) END)
            OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM (
          SELECT r.* FROM unnest($2::bytea[], $3::bigint[], $4::bigint[]) AS s (store, lower, upper)
          CROSS JOIN LATERAL (
            SELECT * FROM keepsake_row AS r
            WHERE r.account = $1 AND r.store = s.store AND r.seq > s.lower AND r.seq <= s.upper
              AND r.seq > 0
            ORDER BY r.seq LIMIT $5::bigint + 1
          ) AS r
          ORDER BY r.seq LIMIT $5::bigint + 1
        ) AS found
      ) AS counted
      WHERE place <= $5::bigint AND coalesce(before, 0) < $6::bigint ORDER BY seq
      """)
    private static let putRows = Statement(
      "put_rows",
      """
      INSERT INTO keepsake_row (account, store, key, tag, hlc, origin, kind, value, seq)
      SELECT $1, * FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bytea[], $9::bigint[])
      ON CONFLICT (account, store, key) DO UPDATE SET tag = excluded.tag, hlc = excluded.hlc,
        origin = excluded.origin, kind = excluded.kind, value = excluded.value, seq = excluded.seq
      """)
    static let tombstones = Statement(
      "tombstones",
      """
      SELECT \(columns) FROM keepsake_row
      WHERE account = $1 AND store = $2 AND tag = 0 AND seq <= $3 AND hlc < $4
      ORDER BY seq LIMIT $5::bigint
      """)
    /// One look-up for each, as in `rowsAt`.
    static let dropRows = Statement(
      "drop_rows",
      """
      DELETE FROM keepsake_row WHERE ctid = ANY (ARRAY(
        SELECT r.place FROM unnest($2::bytea[], $3::bytea[]) AS a (store, key)
        CROSS JOIN LATERAL (
          SELECT r.ctid AS place FROM keepsake_row AS r
          WHERE r.account = $1 AND r.store = a.store AND r.key = a.key LIMIT 1
        ) AS r))
      """)
    private static let rowsOfOrigin = Statement(
      "rows_of_origin",
      """
      SELECT 1 FROM keepsake_row
      WHERE account = $1 AND origin = $2 AND hlc > $3 AND hlc >= 0 LIMIT 1
      """)
    static let removeRows = Statement("remove_rows", "DELETE FROM keepsake_row WHERE account = $1")

    func rows(_ result: PostgresResult) throws -> [HubAnswer.Row] {
      try (0..<result.count).map { HubAnswer.Row(try result.entry($0), seq: result.number($0, 7)) }
    }

    // MARK: - By address

    func rows(at addresses: [Address]) throws -> [Address: HubAnswer.Row] {
      let unknown = addresses.filter { rowsKnown[$0] == nil }
      if !unknown.isEmpty {
        try note(try read(Self.rowsAt, addressParameters(unknown)), at: unknown)
      }
      return addresses.reduce(into: [:]) { found, address in
        if let row = rowsKnown[address] ?? nil { found[address] = row }
      }
    }

    func addressParameters(_ addresses: [Address]) -> Parameters {
      var parameters = Parameters(id)
      parameters.append(texts: addresses.map(\.store))
      parameters.append(texts: addresses.map(\.key))
      return parameters
    }

    func note(_ result: PostgresResult, at addresses: [Address]) throws {
      for address in addresses { rowsKnown[address] = .some(nil) }
      for row in try rows(result) { rowsKnown[row.entry.address] = row }
    }

    func put(_ rows: [HubAnswer.Row]) throws {
      guard !rows.isEmpty else { return }
      _ = try account
      for row in rows {
        rowsPending[row.entry.address] = row
        rowsKnown[row.entry.address] = row
      }
      for row in rows {
        let store = row.entry.address.store
        lastKnown[store] = max(lastKnown[store] ?? 0, row.seq)
      }
      pagesKnown = [:]
    }

    /// Of a row that will be removed nothing is pending.
    func forget(_ address: Address) {
      rowsPending[address] = nil
      rowsKnown[address] = .some(nil)
      pagesKnown = [:]
    }

    func takeRows() -> Sent? {
      guard !rowsPending.isEmpty else { return nil }
      let rows = rowsPending.values.sorted { $0.seq < $1.seq }
      rowsPending = [:]
      var parameters = addressParameters(rows.map(\.entry.address))
      parameters.append(numbers: rows.map(\.entry.content.tag))
      parameters.append(numbers: rows.map(\.entry.timestamp.rawValue))
      parameters.append(numbers: rows.map(\.entry.origin.rawValue))
      parameters.append(numbers: rows.map(\.entry.content.cell.kind))
      parameters.append(values: rows.map(\.entry.content.cell))
      parameters.append(numbers: rows.map(\.seq))
      return Sent(Self.putRows, parameters)
    }

    // MARK: - By sequence number

    func rows(
      after cursors: [ByteText: Int64], and after: Int64, through: Int64, except echo: EchoRange,
      _ limit: HubRequest.PageLimit
    ) throws -> (rows: [HubAnswer.Row], hasMore: Bool) {
      // Beyond the last there is nothing, and a request does not know yet where that is.
      let end = through >= (try account.seq) ? Int64.max : through
      let key = PageKey(cursors, after, end, echo, limit)
      if let known = pagesKnown[key] { return known }
      guard !key.spans.isEmpty else { return ([], false) }
      let found = try pageRows(try read(Self.page, pageParameters(key)))
      pagesKnown[key] = found
      return found
    }

    func pageParameters(_ key: PageKey) -> Parameters {
      var parameters = Parameters(id)
      parameters.append(texts: key.spans.map(\.store))
      parameters.append(numbers: key.spans.map(\.after))
      parameters.append(numbers: key.spans.map(\.through))
      parameters.append(Int64(min(key.rows, Int(Int32.max))))
      parameters.append(Int64(key.bytes))
      return parameters
    }

    func pageRows(_ result: PostgresResult) throws -> (rows: [HubAnswer.Row], hasMore: Bool) {
      let rows = try rows(result)
      return (rows, !rows.isEmpty && result.number(0, 8) > rows.count)
    }

    func lastOfEachStore() throws -> [ByteText: Int64] {
      _ = try account
      return lastKnown
    }

    func hasRows(of origin: ReplicaID, after timestamp: HybridTimestamp) throws -> Bool {
      try read(Self.rowsOfOrigin, Parameters(id, origin.rawValue, timestamp.rawValue)).count > 0
    }
  }
#endif
