// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeSync
  import KeepsakeValues
  import Synchronization
  import TestSupport
  import Testing

  @Suite(.enabled(if: Cluster.isPossible, Comment(rawValue: Cluster.need)))
  struct PostgresTests {
    private let cluster: Cluster

    init() throws { cluster = try Cluster() }

    private func account(_ database: PostgresDatabase) async throws -> Int64 {
      try await database.onDirectory {
        try $0.addAccount(HubAccount(hub: ReplicaID(rawValue: 7)), at: 5)
      }
    }

    private func put(
      _ key: String, in account: Int64, _ database: PostgresDatabase
    ) async throws -> Int64 {
      try await database.onAccount(account) { tables in
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

    private func keys(_ account: Int64, _ database: PostgresDatabase) async throws -> [String] {
      try await database.onAccount(account) { tables in
        try tables.rows(
          after: [ByteText("cloud"): 0], and: 0, through: .max, except: EchoRange(),
          HubRequest.PageLimit()
        ).rows.map(\.entry.address.key.string)
      }
    }

    /// Two hubs at once, whose every answer and row is that of a hub in memory.
    @Test func anyHistoryGoesAsOneInMemory() throws {
      let ending = try Command.run(
        Command.built("postgres-probe").get(), ["histories", cluster.url, "100"], patience: 300)
      #expect(ending.stdout == "100 histories\n" && ending.code == 0, "\(ending)")
    }

    @Test func severalHubsMayStartAtOnce() async throws {
      let url = cluster.url
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 { group.addTask { try PostgresDatabase(url: url, connections: 1).close() } }
        try await group.waitForAll()
      }
      #expect(try cluster.shell("SELECT version FROM keepsake_schema") == "1\n")
    }

    @Test func aLaterVersionsTablesAreLeftAlone() throws {
      try PostgresDatabase(url: cluster.url, connections: 1).close()
      _ = try cluster.shell("UPDATE keepsake_schema SET version = 2")
      let error = #expect(throws: HubDatabaseError.self) {
        try PostgresDatabase(url: cluster.url, connections: 1)
      }
      #expect("\(error as Any)".contains("later version"))
    }

    @Test func connectionsThatEndAndServersThatStartAgainLoseNothing() async throws {
      let database = try PostgresDatabase(url: cluster.url, connections: 2)
      let account = try await account(database)
      #expect(try await put("a\0", in: account, database) == 1)
      _ = try cluster.shell(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
          + "WHERE application_name = 'keepsake-hub'")
      #expect(try await put("b", in: account, database) == 2)
      try cluster.stop()
      try cluster.start()
      #expect(try await put("c", in: account, database) == 3)
      #expect(try await keys(account, database) == ["a\0", "b", "c"])
      database.close()
    }

    @Test func aServerThatIsGoneOrTakesNoWritesIsUnavailableAndItsPasswordIsNotTold() async throws {
      let database = try PostgresDatabase(
        url: cluster.url, connections: 1, patience: .milliseconds(300))
      let account = try await account(database)
      try cluster.stop()
      let error = await #expect(throws: HubDatabaseError.self) {
        try await put("a", in: account, database)
      }
      let text = "\(error as Any)"
      #expect(text.contains("unavailable") && !text.contains("secret!"))
      try cluster.start()
      _ = try cluster.shell("ALTER SYSTEM SET default_transaction_read_only = on")
      _ = try cluster.shell("SELECT pg_reload_conf()")
      while try cluster.shell("SHOW default_transaction_read_only") != "on\n" {}
      let second = await #expect(throws: HubDatabaseError.self) {
        try await put("a", in: account, database)
      }
      #expect("\(second as Any)".contains("unavailable"))
      database.close()
      let third = #expect(throws: HubDatabaseError.self) {
        try PostgresDatabase(url: "postgresql://u:p%ss@h/d")
      }
      #expect(!"\(third as Any)".contains("p%ss"))
    }

    @Test func changesAreHeardInEveryProcessEvenThoseThatNobodyTold() async throws {
      let writer = try PostgresDatabase(url: cluster.url, connections: 1)
      let reader = try PostgresDatabase(
        url: cluster.url, connections: 1, pollInterval: .milliseconds(50))
      let account = try await account(writer)
      _ = try await keys(account, reader)
      let heard = Mutex<Int64>(0)
      let news = AsyncStream<Int64>.makeStream()
      reader.observe { number, seq in if number == account { news.continuation.yield(seq) } }
      #expect(try await put("a", in: account, writer) == 1)
      _ = try cluster.shell("UPDATE keepsake_account SET seq = 9 WHERE id = \(account)")
      for await seq in news.stream {
        heard.withLock { $0 = max($0, seq) }
        if seq >= 9 { break }
      }
      #expect(heard.withLock(\.self) == 9)
      writer.close()
      reader.close()
    }

    @Test func anAccountThatIsGoneSaysSo() async throws {
      let database = try PostgresDatabase(url: cluster.url, connections: 1)
      let account = try await account(database)
      _ = try await put("a", in: account, database)
      let member = HubMember(account: account, name: "phone\0", tokenHash: [1, 2], created: 3)
      var known = member
      known.number = try await database.onDirectory { try $0.addMember(member) }
      #expect(try await database.onDirectory { try $0.member(withToken: [1, 2]) } == known)
      try await database.onDirectory { try $0.removeAccount(account) }
      await #expect(throws: HubDatabaseError.noAccount) { try await keys(account, database) }
      #expect(try await database.onDirectory { try $0.member(withToken: [1, 2]) } == nil)
      #expect(try cluster.shell("SELECT count(*) FROM keepsake_row") == "0\n")
      database.close()
    }
  }
#endif
