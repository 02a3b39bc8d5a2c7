// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeValues

  /// Statements on the accounts of a hub.
  enum AccountTable {
    static let statements = [lock, save, add, remove, count]

    /// Every transaction of an account begins with it, so that no two overlap.
    static let lock = Statement(
      "lock", "SELECT hub, former, seq, forgotten FROM keepsake_account WHERE id = $1 FOR UPDATE")
    static let save = Statement(
      "save_account",
      """
      UPDATE keepsake_account SET hub = $2, former = $3, seq = $4, forgotten = $5 WHERE id = $1
      """)
    static let add = Statement(
      "add_account",
      """
      INSERT INTO keepsake_account (hub, former, seq, forgotten, created)
      VALUES ($1, $2, $3, $4, $5) RETURNING id
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
      return account
    }

    /// In the order of the columns.
    static func append(_ account: HubAccount, to parameters: inout Parameters) {
      parameters.append(account.hub.rawValue)
      parameters.append(numbers: account.former.map(\.rawValue))
      parameters.append(account.seq)
      parameters.append(account.forgotten)
    }
  }
#endif
