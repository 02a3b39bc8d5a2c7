// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  extension PostgresTables {
    static let seenStatements = [
      seen, raiseSeen, cutSeen, removeSeen, revoke, removeRevocations,
    ]
    static let seen = Statement(
      "seen",
      """
      SELECT store, origin, hlc FROM keepsake_seen WHERE account = $1 AND store = ANY ($2::bytea[])
      ORDER BY store, origin
      """)
    private static let raiseSeen = Statement(
      "raise_seen",
      """
      INSERT INTO keepsake_seen AS s (account, store, origin, hlc)
      SELECT $1, n.store, n.origin, max(n.hlc)
      FROM unnest($2::bytea[], $3::bigint[], $4::bigint[]) AS n (store, origin, hlc)
      GROUP BY n.store, n.origin
      ON CONFLICT (account, store, origin) DO UPDATE SET hlc = excluded.hlc
        WHERE s.hlc < excluded.hlc
      """)
    private static let cutSeen = Statement(
      "cut_seen",
      "UPDATE keepsake_seen SET hlc = $3 WHERE account = $1 AND origin = $2 AND hlc > $3")
    static let removeSeen = Statement("remove_seen", "DELETE FROM keepsake_seen WHERE account = $1")
    private static let revoke = Statement(
      "revoke",
      """
      INSERT INTO keepsake_revocation (account, origin, hlc) VALUES ($1, $2, $3)
      ON CONFLICT (account, origin) DO UPDATE SET hlc = excluded.hlc
      """)
    static let removeRevocations = Statement(
      "remove_revocations", "DELETE FROM keepsake_revocation WHERE account = $1")

    func seenParameters(_ stores: [ByteText]) -> Parameters {
      var parameters = Parameters(id)
      parameters.append(texts: stores)
      return parameters
    }

    func note(seen result: PostgresResult, of stores: [ByteText]) {
      for store in stores { seenKnown[store] = [] }
      for seen in seen(result) { seenKnown[seen.store, default: []].append(seen) }
    }

    /// Store, origin and timestamp of each row.
    func seen(_ result: PostgresResult) -> [HubRequest.Seen] {
      (0..<result.count).map { row in
        HubRequest.Seen(
          ByteText(result.text(row, 0)), ReplicaID(rawValue: result.number(row, 1)),
          HybridTimestamp(rawValue: result.number(row, 2)))
      }
    }

    func seen(of stores: [ByteText]) throws -> [HubRequest.Seen] {
      _ = try account
      let unknown = stores.filter { seenKnown[$0] == nil }
      if !unknown.isEmpty { note(seen: try read(Self.seen, seenParameters(unknown)), of: unknown) }
      return stores.flatMap { seenKnown[$0] ?? [] }
    }

    func raise(_ seen: [HubRequest.Seen]) throws {
      guard !seen.isEmpty else { return }
      var parameters = Parameters(id)
      parameters.append(texts: seen.map(\.store))
      parameters.append(numbers: seen.map(\.origin.rawValue))
      parameters.append(numbers: seen.map(\.timestamp.rawValue))
      try write(Self.raiseSeen, parameters)
      seenKnown = [:]
    }

    func cutSeen(of origin: ReplicaID, to timestamp: HybridTimestamp) throws {
      try write(Self.cutSeen, Parameters(id, origin.rawValue, timestamp.rawValue))
      seenKnown = [:]
    }

    // MARK: - What does not stand

    func revocations() throws -> [ReplicaID: HybridTimestamp] {
      _ = try account
      return revocationsKnown
    }

    func revoke(_ origin: ReplicaID, after timestamp: HybridTimestamp) throws {
      try write(Self.revoke, Parameters(id, origin.rawValue, timestamp.rawValue))
      revocationsKnown[origin] = timestamp
    }
  }
#endif
