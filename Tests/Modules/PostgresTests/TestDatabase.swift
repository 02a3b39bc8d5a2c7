// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeSync
  import KeepsakeValues

  /// A database for one test.
  struct TestDatabase {
    let cluster: Cluster
    let name: String

    init(of cluster: Cluster? = nil) throws {
      self.cluster = try cluster ?? Cluster.shared.get()
      name = try self.cluster.database()
    }

    var url: String { cluster.url(name) }

    @discardableResult
    func shell(_ sql: String) throws -> String { try cluster.shell(sql, in: name) }
  }

  extension PostgresDatabase {
    func addAccount() async throws -> Int64 {
      try await onDirectory { try $0.addAccount(HubAccount(hub: ReplicaID(rawValue: 7)), at: 5) }
    }

    func put(_ key: String, in account: Int64) async throws -> Int64 {
      try await onAccount(account) { tables in
        var account = try tables.account
        account.seq += 1
        let entry = Entry(
          Address(store: "cloud", key: key), TaggedCell(tag: 1, cell: .text("v\0")),
          timestamp: HybridTimestamp(rawValue: account.seq), origin: ReplicaID(rawValue: 5))
        try tables.put([HubAnswer.Row(entry, seq: account.seq)])
        try tables.save(account)
        return account.seq
      }
    }

    func keys(_ account: Int64) async throws -> [String] {
      try await onAccount(account) { tables in
        try tables.rows(
          after: [ByteText("cloud"): 0], and: 0, through: .max, except: EchoRange(),
          HubRequest.PageLimit()
        ).rows.map(\.entry.address.key.string)
      }
    }
  }
#endif
