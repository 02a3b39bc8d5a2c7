// SPDX-License-Identifier: Apache-2.0
//
// A push in one round trip. The first statement decides as `LogRules.push` does, and accepts the
// push unless a limit is exceeded. The others have an effect only if it did, except for trimming,
// which is right at any time. If it did not, `LogRules.push` finds the reason.

#if PostgreSQL
  import KeepsakeHubServer

  extension HubFastPush {
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

    var calls: [HubCall] {
      let (id, bits) = (HubCell.number(sender.account), HubCell.number(self.bits))
      let (base, newest, rows) = (push.base, push.newest, push.rows)
      let count = HubCell.number(Int64(rows.count))
      let (keys, bodies) = (HubCell.blobs(rows.map(\.key)), HubCell.blobs(rows.map(\.body)))
      var calls = [
        HubCall(
          Self.take, id, bits, .number(base.number), .number(base.bits), .number(newest.number),
          .number(newest.bits), .number(now), count,
          .number(rows.reduce(0) { $0 + $1.size }), .number(Int64(limits.rows)),
          .number(Int64(limits.bytes)), .bytes(sender.tokenHash), .text(sender.replica), keys),
        HubCall(
          Self.putRows, id, bits, count, .numbers(rows.map { $0.isDeleted ? 1 : 0 }), keys, bodies),
        HubCall(Self.addMark, id, bits),
      ]
      if let mark = push.mark, let vectors = push.vectors {
        let room = Int64(limits.vectorBytes - vectors.count)
        calls += [
          HubCall(Self.saveReplica, id, bits, .text(sender.replica), .bytes(mark)),
          HubCall(
            Self.dropVectors, id, .number(base.number), .number(Int64(HubVectors.most - 1)),
            .number(room), bits),
          HubCall(Self.addVectors, id, bits, .bytes(vectors)),
        ]
      }
      var change = HubChange()
      change.trim = limits.trim(self.bits, at: now)
      return calls + change.calls(sender.account)
    }

    /// - Parameter results: those of `calls`.
    /// - Returns: nil if the push was not accepted.
    func pushed(_ results: ArraySlice<PostgresResult>) -> HubPushed? {
      guard let first = results.first, first.count == 1 else { return nil }
      let newest = HubMark(number: first.number(0, 0), bits: bits, time: first.number(0, 1))
      let added = Int64(max(push.rows.count, 1))
      return HubPushed(newest: newest, isNext: newest.number - added == push.base.number)
    }
  }
#endif
