// SPDX-License-Identifier: Apache-2.0
//
// A push in one round trip. The first statement decides as `LogRules.push` does, and accepts the
// push unless a limit is exceeded. The others have an effect only if it did, except for trimming,
// which is right at any time. If it did not, `LogRules.push` finds the reason.

#if PostgreSQL
  import KeepsakeHubServer

  struct PostgresPush {
    let push: HubFastPush

    static let statements = [take, putRows, addMark, saveReplica, dropVectors, addVectors]

    /// The account is compared with that of the statement's snapshot, which lacks what another
    /// process has changed meanwhile.
    private static let take = HubStatement(
      "push_take",
      """
      UPDATE keepsake_account AS a SET
        mark_number = a.mark_number + greatest($8::bigint, 1), mark_bits = $2,
        mark_time = CASE WHEN a.mark_time - $7::bigint > 86400000 THEN $7::bigint
          ELSE greatest(a.mark_time, $7::bigint) END,
        rows = a.rows + $8::bigint - old.rows, bytes = a.bytes + $9::bigint - old.bytes
      FROM (
        SELECT count(*) AS rows, coalesce(max(number), 0) AS number,
          coalesce(sum(octet_length(key) + octet_length(body)), 0)::bigint AS bytes
        FROM keepsake_row WHERE account = $1 AND key = ANY ($14::bytea[])
      ) AS old
      WHERE id = $1 AND greatest(old.number, a.forgotten) <= $3::bigint
        AND \(isKnown("$3", "$4")) AND \(isKnown("$5", "$6"))
        AND NOT EXISTS (
          SELECT FROM keepsake_replica WHERE account = $1 AND id = $13 AND number > $3::bigint)
        AND a.rows + $8::bigint - old.rows <= $10::bigint
        AND a.bytes + $9::bigint - old.bytes <= $11::bigint
        AND (a.mark_bits, a.rows, a.forgotten) = (
          SELECT mark_bits, rows, forgotten FROM keepsake_account WHERE id = $1)
        AND EXISTS (
          SELECT FROM keepsake_device WHERE account = $1 AND token = $12)
      RETURNING mark_number, mark_time
      """)

    private static func isKnown(_ number: String, _ bits: String) -> String {
      """
      (\(number)::bigint = 0 OR EXISTS (SELECT FROM keepsake_mark
        WHERE account = $1 AND number = \(number)::bigint AND bits = \(bits)::bigint))
      """
    }

    /// The account, if the push was accepted: no other push has its bits.
    private static let taken = "keepsake_account AS a WHERE a.id = $1 AND a.mark_bits = $2"
    private static let putRows = HubStatement(
      "push_rows",
      """
      INSERT INTO keepsake_row (account, number, is_deleted, key, body)
      SELECT $1, a.first + r.place, r.is_deleted, r.key, r.body
      FROM unnest($4::bigint[], $5::bytea[], $6::bytea[]) WITH ORDINALITY
          AS r (is_deleted, key, body, place),
        (SELECT a.mark_number - $3::bigint AS first FROM \(taken)) AS a
      ON CONFLICT (account, key) DO UPDATE
        SET number = excluded.number, is_deleted = excluded.is_deleted, body = excluded.body
      """)
    private static let addMark = HubStatement(
      "push_mark",
      """
      INSERT INTO keepsake_mark (account, number, time, bits)
      SELECT a.id, a.mark_number, a.mark_time, a.mark_bits FROM \(taken)
      """)
    private static let saveReplica = HubStatement(
      "push_replica",
      """
      INSERT INTO keepsake_replica (account, number, id, mark)
      SELECT a.id, a.mark_number, $3::bytea, $4::bytea FROM \(taken)
      ON CONFLICT (account, id) DO UPDATE SET number = excluded.number, mark = excluded.mark
      """)
    private static let dropVectors = HubStatement(
      "push_drop_vectors",
      """
      DELETE FROM keepsake_vectors WHERE account = $1 AND \(HubStatement.droppedVectors)
        AND EXISTS (SELECT FROM keepsake_account WHERE id = $1 AND mark_bits = $5)
      """)
    private static let addVectors = HubStatement(
      "push_add_vectors",
      """
      INSERT INTO keepsake_vectors (account, number, body)
      SELECT a.id, a.mark_number, $3::bytea FROM \(taken)
      """)

    var statements: [PostgresCall] {
      let (account, rows) = (push.sender.account, push.push.rows)
      let id = Parameters(account, push.bits)
      var put = Parameters(account, push.bits, Int64(rows.count))
      put.append(numbers: rows.map { $0.isDeleted ? 1 : 0 })
      put.append(blobs: rows.map(\.key))
      put.append(blobs: rows.map(\.body))
      var all = [
        PostgresCall(Self.take, taking), PostgresCall(Self.putRows, put),
        PostgresCall(Self.addMark, id),
      ]
      if let mark = push.push.mark, let vectors = push.push.vectors {
        var replica = id
        replica.append(push.sender.replica)
        replica.append(mark)
        let room = Int64(push.limits.vectorBytes - vectors.count)
        let dropped = Parameters(
          account, push.push.base.number, Int64(HubVectors.most - 1), room, push.bits)
        all.append(PostgresCall(Self.saveReplica, replica))
        all.append(PostgresCall(Self.dropVectors, dropped))
        all.append(PostgresCall(Self.addVectors, Parameters(account, push.bits, bytes: vectors)))
      }
      var change = HubChange()
      change.trim = push.limits.trim(push.bits, at: push.now)
      return all + change.calls(account).map { PostgresCall($0) }
    }

    private var taking: Parameters {
      let (base, newest, rows) = (push.push.base, push.push.newest, push.push.rows)
      var parameters = Parameters(
        push.sender.account, push.bits, base.number, base.bits, newest.number, newest.bits,
        push.now, Int64(rows.count), rows.reduce(0) { $0 + $1.size },
        Int64(push.limits.rows), Int64(push.limits.bytes))
      parameters.append(push.sender.tokenHash)
      parameters.append(push.sender.replica)
      parameters.append(blobs: rows.map(\.key))
      return parameters
    }

    /// - Parameter results: those of `statements`.
    /// - Returns: nil if the push was not accepted.
    func pushed(_ results: ArraySlice<PostgresResult>) -> HubPushed? {
      guard let first = results.first, first.count == 1 else { return nil }
      let newest = HubMark(
        number: first.number(0, 0), bits: push.bits, time: first.number(0, 1))
      let added = Int64(max(push.push.rows.count, 1))
      return HubPushed(newest: newest, isNext: newest.number - added == push.push.base.number)
    }
  }
#endif
