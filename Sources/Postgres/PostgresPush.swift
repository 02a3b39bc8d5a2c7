// SPDX-License-Identifier: Apache-2.0
//
// A push in one round trip. The first statement takes the push if nobody else has pushed since its
// base, and no limit is exceeded; the others do something only if it did. Otherwise `LogRules.push`
// decides.

#if PostgreSQL
  import KeepsakeHubServer

  struct PostgresPush {
    let push: HubFastPush

    static let statements = [take, putRows, addMark, saveReplica, saveVectors]

    /// The number of rows is compared with that of the statement's snapshot: rows that were
    /// forgotten meanwhile would be counted wrongly.
    private static let take = HubStatement(
      "push_take",
      """
      UPDATE keepsake_account AS a SET
        mark_number = $2::bigint + greatest($7::bigint, 1), mark_bits = $4,
        mark_time = greatest(mark_time, $5::bigint),
        rows = a.rows + $7::bigint - old.rows, bytes = a.bytes + $8::bigint - old.bytes
      FROM (
        SELECT count(*) AS rows,
          coalesce(sum(octet_length(key) + octet_length(body)), 0)::bigint AS bytes
        FROM keepsake_row WHERE account = $1 AND key = ANY ($11::bytea[])
      ) AS old
      WHERE id = $1 AND mark_number = $2::bigint AND mark_bits = $3
        AND a.rows + $7::bigint - old.rows <= $9::bigint
        AND a.bytes + $8::bigint - old.bytes <= $10::bigint
        AND a.rows = (SELECT rows FROM keepsake_account WHERE id = $1)
        AND EXISTS (
          SELECT FROM keepsake_device WHERE account = $1 AND token = $6)
      RETURNING mark_time
      """)
    private static let isTaken =
      "EXISTS (SELECT FROM keepsake_account WHERE id = $1 AND mark_bits = $2)"
    private static let putRows = HubStatement(
      "push_rows",
      """
      INSERT INTO keepsake_row (account, number, is_deleted, key, body)
      SELECT $1, r.* FROM unnest($3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) AS r
      WHERE \(isTaken)
      ON CONFLICT (account, key) DO UPDATE
        SET number = excluded.number, is_deleted = excluded.is_deleted, body = excluded.body
      """)
    private static let addMark = HubStatement(
      "push_mark",
      """
      INSERT INTO keepsake_mark (account, number, time, bits)
      SELECT id, $3::bigint, mark_time, $2 FROM keepsake_account WHERE id = $1 AND mark_bits = $2
      """)
    private static let saveReplica = HubStatement(
      "push_replica",
      """
      INSERT INTO keepsake_replica (account, number, id, mark)
      SELECT $1, $3::bigint, $4::bytea, $5::bytea WHERE \(isTaken)
      ON CONFLICT (account, id) DO UPDATE SET number = excluded.number, mark = excluded.mark
      """)
    private static let saveVectors = HubStatement(
      "push_vectors",
      """
      INSERT INTO keepsake_vectors (account, body) SELECT $1, $3::bytea WHERE \(isTaken)
      ON CONFLICT (account) DO UPDATE SET body = excluded.body
      """)

    var statements: [Sent] {
      let id = push.sender.account
      var rows = push.push.rows
      for place in rows.indices { rows[place].number = push.push.base.number + 1 + Int64(place) }
      var all = [
        Sent(Self.take, taking), Self.put(rows, id, push.bits),
        Sent(Self.addMark, Parameters(id, push.bits, number)),
      ]
      if let mark = push.push.mark {
        var replica = Parameters(id, push.bits, number)
        replica.append(push.sender.replica)
        replica.append(mark)
        all.append(Sent(Self.saveReplica, replica))
      }
      if let vectors = push.push.vectors {
        let bytes = HubVectors(vectors, number).bytes
        all.append(Sent(Self.saveVectors, Parameters(id, push.bits, bytes: bytes)))
      }
      return all
    }

    private static func put(_ rows: [HubRow], _ account: Int64, _ bits: Int64) -> Sent {
      var parameters = Parameters(account, bits)
      parameters.append(numbers: rows.map(\.number))
      parameters.append(numbers: rows.map { $0.isDeleted ? 1 : 0 })
      parameters.append(blobs: rows.map(\.key))
      parameters.append(blobs: rows.map(\.body))
      return Sent(putRows, parameters)
    }

    private var taking: Parameters {
      let (base, rows, limits) = (push.push.base, push.push.rows, push.limits)
      var parameters = Parameters(
        push.sender.account, base.number, base.bits, push.bits, push.now)
      parameters.append(push.sender.tokenHash)
      for number in [
        Int64(rows.count), rows.reduce(0) { $0 + $1.size }, Int64(limits.rows), Int64(limits.bytes),
      ] { parameters.append(number) }
      parameters.append(blobs: rows.map(\.key))
      return parameters
    }

    /// The account's number afterwards.
    private var number: Int64 { push.push.base.number + Int64(max(push.push.rows.count, 1)) }

    /// - Parameter results: those of `statements`.
    /// - Returns: the new mark; nil if the push was not taken.
    func mark(_ results: ArraySlice<PostgresResult>) -> HubMark? {
      guard let first = results.first, first.count == 1 else { return nil }
      return HubMark(number: number, bits: push.bits, time: first.number(0, 0))
    }
  }
#endif
