// SPDX-License-Identifier: Apache-2.0
//
// What a transaction reads: the statements of a query, which go in one round trip with those of
// other queries, and the state that their results are.

#if PostgreSQL
  import KeepsakeHubServer

  struct PostgresQuery {
    let query: HubQuery

    static let statements = [
      lock, account, device, devices, replica, mark, rows, vectors, outlines, invitation,
    ]

    static let accountColumns =
      "id, mark_number, mark_bits, mark_time, forgotten, rows, bytes, reserved_until, reserved_by"
    /// Every transaction that changes an account begins with it, so that no two overlap.
    private static let lock = Statement(
      "lock", "SELECT \(accountColumns) FROM keepsake_account WHERE id = $1 FOR UPDATE")
    private static let account = Statement(
      "account", "SELECT \(accountColumns) FROM keepsake_account WHERE id = $1")
    private static let deviceColumns = "number, created, last_use, revoked, revoker, name, token"
    private static let device = Statement(
      "device",
      "SELECT \(deviceColumns) FROM keepsake_device WHERE account = $1 AND token = $2")
    private static let devices = Statement(
      "devices",
      "SELECT \(deviceColumns) FROM keepsake_device WHERE account = $1 ORDER BY number")
    private static let replica = Statement(
      "replica",
      "SELECT number, mark FROM keepsake_replica WHERE account = $1 AND id = $2")
    private static let mark = Statement(
      "mark",
      "SELECT number FROM keepsake_mark WHERE account = $1 AND number = $2 AND bits = $3")
    private static let isNew = """
      NOT EXISTS (SELECT FROM keepsake_account
        WHERE id = $1 AND mark_number = $2 AND mark_bits = $3)
      """
    private static let rows = Statement(
      "rows",
      """
      SELECT number, is_deleted, key, body, available FROM (
        SELECT number, is_deleted, key, body, count(*) OVER () AS available,
          row_number() OVER (ORDER BY number) AS place,
          sum(octet_length(key) + octet_length(body)) OVER (ORDER BY number) AS size
        FROM (
          SELECT number, is_deleted, key, body FROM keepsake_row
          WHERE account = $1 AND number > 0 AND number > $4 AND \(isNew)
          ORDER BY number LIMIT $5::bigint + 1
        ) AS r
      ) AS p WHERE place = 1 OR place <= $5 AND size <= $6::bigint
      """)
    private static let vectors = Statement(
      "vectors", "SELECT body FROM keepsake_vectors WHERE account = $1 AND \(isNew)")
    private static let outlines = Statement(
      "outlines",
      """
      SELECT key, number, (octet_length(key) + octet_length(body))::bigint, is_deleted
      FROM keepsake_row WHERE account = $1 AND key = ANY ($2::bytea[])
      """)
    private static let invitation = Statement(
      "invitation", "SELECT code, ends FROM keepsake_invitation WHERE account = $1")

    /// In the order in which `state` reads their results.
    var statements: [Sent] {
      let id = query.account
      var all = [Sent(query.isWriting ? Self.lock : Self.account, Parameters(id))]
      if let token = query.token { all.append(Sent(Self.device, Parameters(id, bytes: token))) }
      if query.readsDevices {
        all += [Sent(Self.devices, Parameters(id)), Sent(Self.invitation, Parameters(id))]
      }
      if let replica = query.replica {
        all.append(Sent(Self.replica, Parameters(id, bytes: Array(replica.utf8))))
      }
      for mark in query.marks {
        all.append(Sent(Self.mark, Parameters(id, mark.number, mark.bits)))
      }
      if let page = query.page {
        let (number, bits) = (page.unless?.number ?? -1, page.unless?.bits ?? 0)
        // Before the rows: vectors must not cover rows that are not there.
        all.append(Sent(Self.vectors, Parameters(id, number, bits)))
        all.append(
          Sent(
            Self.rows,
            Parameters(id, number, bits, page.after, Int64(page.rows), Int64(page.bytes))))
      }
      if !query.keys.isEmpty {
        var parameters = Parameters(id)
        parameters.append(blobs: query.keys)
        all.append(Sent(Self.outlines, parameters))
      }
      return all
    }

    func state(_ results: ArraySlice<PostgresResult>) -> HubState {
      var (state, results) = (HubState(), results)
      state.account = results.popFirst().flatMap(Self.account)
      guard state.account != nil else { return state }
      if query.token != nil { state.device = results.popFirst().flatMap { Self.devices($0).first } }
      if query.readsDevices {
        state.devices = results.popFirst().map(Self.devices) ?? []
        state.invitation = results.popFirst().flatMap(Self.invitation)
      }
      if let id = query.replica {
        state.replica = results.popFirst().flatMap { Self.replica($0, id) }
      }
      for mark in query.marks {
        state.hasMarks.append(results.popFirst()?.count == 1 || mark.number == 0)
      }
      if query.page != nil, let vectors = results.popFirst(), let rows = results.popFirst() {
        if vectors.count == 1 { state.vectors = Array(vectors.bytes(0, 0)) }
        (state.rows, state.hasMore) = Self.rows(rows)
      }
      if !query.keys.isEmpty { state.outlines = results.popFirst().map(Self.outlines) ?? [] }
      return state
    }

    // MARK: - Results

    private static func account(_ result: PostgresResult) -> HubAccount? {
      guard result.count == 1 else { return nil }
      var account = HubAccount(id: result.number(0, 0))
      account.newest = HubMark(
        number: result.number(0, 1), bits: result.number(0, 2), time: result.number(0, 3))
      account.forgotten = result.number(0, 4)
      (account.rows, account.bytes) = (result.number(0, 5), result.number(0, 6))
      (account.reservedUntil, account.reservedBy) = (result.number(0, 7), result.text(0, 8))
      return account
    }

    private static func devices(_ result: PostgresResult) -> [HubDevice] {
      (0..<result.count).map { row in
        var device = HubDevice(
          number: result.number(row, 0), name: result.text(row, 5),
          tokenHash: Array(result.bytes(row, 6)), created: result.number(row, 1))
        device.lastUse = result.number(row, 2)
        (device.revoked, device.revoker) = (result.optional(row, 3), result.optional(row, 4))
        return device
      }
    }

    private static func invitation(_ result: PostgresResult) -> HubInvitation? {
      guard result.count == 1 else { return nil }
      return HubInvitation(codeHash: Array(result.bytes(0, 0)), ends: result.number(0, 1))
    }

    private static func replica(_ result: PostgresResult, _ id: String) -> HubReplica? {
      guard result.count == 1 else { return nil }
      return HubReplica(id: id, number: result.number(0, 0), mark: Array(result.bytes(0, 1)))
    }

    private static func rows(_ result: PostgresResult) -> (rows: [HubRow], hasMore: Bool) {
      let rows = (0..<result.count).map { row in
        HubRow(
          key: Array(result.bytes(row, 2)), body: Array(result.bytes(row, 3)),
          isDeleted: result.number(row, 1) != 0, number: result.number(row, 0))
      }
      return (rows, !rows.isEmpty && result.number(0, 4) > rows.count)
    }

    private static func outlines(_ result: PostgresResult) -> [HubRowOutline] {
      (0..<result.count).map { row in
        HubRowOutline(
          key: Array(result.bytes(row, 0)), number: result.number(row, 1),
          size: result.number(row, 2), isDeleted: result.number(row, 3) != 0)
      }
    }
  }
#endif
