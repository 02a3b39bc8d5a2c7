// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeValues

  /// Statements on the accounts of a hub.
  enum AccountTable {
    static let statements = [lock, save, add, remove, count]

    private static let columns = "hub, former, seq, forgotten, rows, bytes, collected"
    /// Every transaction of an account begins with it, so that no two overlap.
    static let lock = Statement(
      "lock", "SELECT \(columns) FROM keepsake_account WHERE id = $1 FOR UPDATE")
    static let save = Statement(
      "save_account",
      """
      UPDATE keepsake_account SET hub = $2, former = $3, seq = $4, forgotten = $5, rows = $6,
        bytes = $7, collected = $8
      WHERE id = $1
      """)
    static let add = Statement(
      "add_account",
      """
      INSERT INTO keepsake_account (\(columns), created)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id
      """)
    static let remove = Statement("remove_account", "DELETE FROM keepsake_account WHERE id = $1")
    static let count = Statement("count_accounts", "SELECT count(*) FROM keepsake_account")
    /// What the announcer asks, on a connection of its own.
    static let last = Statement(
      "last_of_accounts", "SELECT id, seq FROM keepsake_account WHERE id = ANY ($1::bigint[])")

    /// What `lock` has found; nil when there is no such account.
    static func account(_ result: PostgresResult) -> HubAccount? {
      guard result.count == 1 else { return nil }
      var account = HubAccount(hub: ReplicaID(rawValue: result.number(0, 0)))
      account.former = result.numbers(0, 1).map(ReplicaID.init)
      (account.seq, account.forgotten) = (result.number(0, 2), result.number(0, 3))
      (account.rows, account.bytes) = (result.number(0, 4), result.number(0, 5))
      account.collected = result.number(0, 6)
      return account
    }

    /// As `columns` has them.
    static func append(_ account: HubAccount, to parameters: inout Parameters) {
      parameters.append(account.hub.rawValue)
      parameters.append(numbers: account.former.map(\.rawValue))
      for number in [
        account.seq, account.forgotten, account.rows, account.bytes, account.collected,
      ] { parameters.append(number) }
    }
  }
#endif
