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
    var lastKnown: [ByteText: Int64]?
    var heldKnown: [Entry]?
    var seenKnown: [ByteText: [HubRequest.Seen]] = [:]
    var revocationsKnown: [ReplicaID: HybridTimestamp]?
    var peersKnown: [ReplicaID: [ByteText: HubPeer]] = [:]
    var hasPeersKnown: Bool?

    init(_ connection: PostgresConnection, _ id: Int64) {
      (self.connection, self.id) = (connection, id)
    }

    // MARK: - The account

    static let statements = [lock, saveAccount, look]
    private static let lock = Statement(
      "lock", "SELECT hub, former, seq, forgotten FROM keepsake_account WHERE id = $1 FOR UPDATE")
    private static let saveAccount = Statement(
      "save_account",
      """
      UPDATE keepsake_account SET hub = $2, former = $3, seq = $4, forgotten = $5 WHERE id = $1
      """)
    /// Small things that every request reads.
    private static let look = Statement(
      "look",
      """
      SELECT EXISTS (SELECT FROM keepsake_peer WHERE account = $1)::integer::bigint,
        EXISTS (SELECT FROM keepsake_held WHERE account = $1)::integer::bigint,
        (SELECT array_agg(origin ORDER BY origin) FROM keepsake_revocation WHERE account = $1),
        (SELECT array_agg(hlc ORDER BY origin) FROM keepsake_revocation WHERE account = $1)
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

    /// Begins the transaction, and asks for more in the same round trip.
    @discardableResult
    func open(_ more: [Sent]) throws -> ArraySlice<PostgresResult> {
      let first = [
        Sent(.begin), Sent(Self.lock, Parameters(id)), Sent(Self.look, Parameters(id)),
        Sent(Self.lastOfStores, Parameters(id)),
      ]
      let results = try connection.run(first + more)
      guard results[1].count == 1 else { throw HubDatabaseError.noAccount }
      var account = HubAccount(hub: ReplicaID(rawValue: results[1].number(0, 0)))
      account.former = results[1].numbers(0, 1).map(ReplicaID.init)
      (account.seq, account.forgotten) = (results[1].number(0, 2), results[1].number(0, 3))
      (stored, current, begun) = (account, account, account.seq)
      hasPeersKnown = results[2].number(0, 0) == 1
      if results[2].number(0, 1) == 0 { heldKnown = [] }
      revocationsKnown = Dictionary(
        uniqueKeysWithValues: zip(
          results[2].numbers(0, 2).map { ReplicaID(rawValue: $0) },
          results[2].numbers(0, 3).map { HybridTimestamp(rawValue: $0) }))
      lastKnown = lastOfStores(results[3])
      return results.dropFirst(first.count)
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
        var parameters = Parameters(id, current.hub.rawValue)
        parameters.append(numbers: current.former.map(\.rawValue))
        parameters.append(current.seq)
        parameters.append(current.forgotten)
        sent.append(Sent(Self.saveAccount, parameters))
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
