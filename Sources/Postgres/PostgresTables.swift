// SPDX-License-Identifier: Apache-2.0
//
// An account, within a transaction that holds the lock of its row from its first statement on.
//
// A round trip costs more than what is asked in it. So what a request will read is fetched with the
// lock, in one round trip (`prefetch`), and what is written waits until the commit, or until
// something is read that it may concern, and goes in one. Either way a read gives what a
// statement would have given at that moment.

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  final class PostgresTables: HubTables {
    let connection: PostgresConnection
    let id: Int64
    /// The account as it stands in the database, once the lock is held.
    private var stored: HubAccount?
    private var begun: Int64 = 0
    private var current: HubAccount?
    /// What is still to be sent.
    private var pending: [Sent] = []
    private(set) var hasWritten = false

    // What is known of the database with what is pending.
    var rowsKnown: [Address: HubAnswer.Row?] = [:]
    var rowsPending: [Address: HubAnswer.Row] = [:]
    var pagesKnown: [PageKey: (rows: [HubAnswer.Row], hasMore: Bool)] = [:]
    var lastKnown: [ByteText: Int64] = [:]
    var heldKnown: HeldOutline?
    var seenKnown: [ByteText: [HubRequest.Seen]] = [:]
    var revocationsKnown: [ReplicaID: HybridTimestamp] = [:]
    var peersKnown: [ReplicaID: [ByteText: HubPeer]] = [:]
    var hasPeersKnown = false

    init(_ connection: PostgresConnection, _ id: Int64) {
      (self.connection, self.id) = (connection, id)
    }

    // MARK: - The account

    /// Small things that every request reads. It goes from store to store by the index, whatever
    /// the number of rows, and gives one row for each, and one beyond the last.
    static let look = Statement(
      "look",
      """
      WITH RECURSIVE s (store) AS (
        SELECT (SELECT store FROM keepsake_row WHERE account = $1 ORDER BY store LIMIT 1)
        UNION ALL
        SELECT (SELECT r.store FROM keepsake_row AS r WHERE r.account = $1 AND r.store > s.store
          ORDER BY r.store LIMIT 1) FROM s WHERE s.store IS NOT NULL
      )
      SELECT s.store, (SELECT max(r.seq) FROM keepsake_row AS r
          WHERE r.account = $1 AND r.store = s.store AND r.seq > 0),
        EXISTS (SELECT FROM keepsake_peer WHERE account = $1)::integer::bigint,
        (SELECT array_agg(origin ORDER BY origin) FROM keepsake_revocation WHERE account = $1),
        (SELECT array_agg(hlc ORDER BY origin) FROM keepsake_revocation WHERE account = $1),
        (SELECT count(*) FROM keepsake_held WHERE account = $1),
        (SELECT min(hlc) FROM keepsake_held WHERE account = $1)
      FROM s
      """)

    var account: HubAccount {
      get throws {
        if let current { return current }
        try open([])
        return try self.account
      }
    }

    func save(_ account: HubAccount) throws {
      _ = try self.account
      current = account
    }

    /// Begins the transaction where it has not begun, and asks for more in the same round trip.
    @discardableResult
    func open(_ more: [Sent]) throws -> ArraySlice<PostgresResult> {
      if current != nil {
        let first = takePending()
        return try connection.run(first + more).dropFirst(first.count)
      }
      let first = [
        Sent(.begin), Sent(AccountTable.lock, Parameters(id)), Sent(Self.look, Parameters(id)),
      ]
      let results = try connection.run(first + more)
      guard let account = AccountTable.account(results[1]) else {
        throw HubDatabaseError.noAccount
      }
      (stored, current, begun) = (account, account, account.seq)
      note(look: results[2])
      return results.dropFirst(first.count)
    }

    func note(look result: PostgresResult) {
      lastKnown = (0..<result.count - 1).reduce(into: [:]) { last, row in
        last[ByteText(result.text(row, 0))] = result.number(row, 1)
      }
      hasPeersKnown = result.number(0, 2) == 1
      revocationsKnown = Dictionary(
        uniqueKeysWithValues: zip(
          result.numbers(0, 3).map { ReplicaID(rawValue: $0) },
          result.numbers(0, 4).map { HybridTimestamp(rawValue: $0) }))
      heldKnown = HeldOutline(result, 5)
    }

    /// The last sequence number, and whether it is given by this transaction.
    var news: (seq: Int64, isNew: Bool) {
      get throws {
        let seq = try account.seq
        return (seq, seq > begun)
      }
    }

    // MARK: - Round trips

    /// Puts a write off to the next round trip.
    func write(_ statement: Statement, _ parameters: Parameters) throws {
      _ = try account
      pending.append(Sent(statement, parameters))
    }

    /// Reads, after all that is pending.
    func read(_ statement: Statement, _ parameters: Parameters) throws -> PostgresResult {
      _ = try account
      let results = try connection.run(takePending() + [Sent(statement, parameters)])
      return results[results.count - 1]
    }

    private func takePending() -> [Sent] {
      var sent = pending
      pending = []
      if let rows = takeRows() { sent.append(rows) }
      if let current, let stored, current != stored {
        var parameters = Parameters(id)
        AccountTable.append(current, to: &parameters)
        sent.append(Sent(AccountTable.save, parameters))
        self.stored = current
      }
      if !sent.isEmpty { hasWritten = true }
      return sent
    }

    /// Commits; a transaction that has written nothing is rolled back, which waits for no disk.
    func commit() throws {
      _ = try account
      let sent = takePending()
      guard hasWritten else {
        _ = try connection.run(.rollback)
        return
      }
      try connection.commit(after: sent)
    }
  }

  extension PostgresConnection {
    /// - Throws: also where the server has committed, but warns that a standby may not have.
    func commit(after sent: [Sent]) throws {
      warnings.texts = []
      let results = try run(sent + [Sent(.commit)])
      guard results.last?.tag == "COMMIT" else {
        throw PostgresError(state: "40000", message: "the transaction was rolled back")
      }
      if let warning = warnings.texts.first { throw PostgresError.lost(warning) }
    }
  }
#endif
