// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeValues

  extension PostgresTables {
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

    func tombstones(
      of store: ByteText, through seq: Int64, before timestamp: HybridTimestamp, limit: Int
    ) throws -> [HubAnswer.Row] {
      var parameters = Parameters(id)
      parameters.append(store.string)
      for number in [seq, timestamp.rawValue, Int64(limit)] { parameters.append(number) }
      return try rows(try read(Self.tombstones, parameters))
    }

    func remove(_ rows: [HubAnswer.Row]) throws {
      guard !rows.isEmpty else { return }
      let addresses = rows.map(\.entry.address)
      for address in addresses { forget(address) }
      try write(Self.dropRows, addressParameters(addresses))
      // The last of a store may be among them, and then another one is.
      note(look: try read(Self.look, Parameters(id)))
    }
  }
#endif
