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
    private let own: TestDatabase

    init() throws { own = try TestDatabase() }

    /// Two hubs at once, whose every answer and row is that of a hub in memory.
    @Test func anyHistoryGoesAsOneInMemory() throws {
      let count = Seeds.rounds(100, debug: 20)
      let ending = try Command.run(
        Command.built("keepsake-hub-probe").get(), ["postgres", "histories", own.url, "\(count)"],
        patience: 300)
      #expect(ending.stdout == "\(count) histories\n" && ending.code == 0, "\(ending)")
    }

    @Test func changesAreHeardInEveryProcessEvenThoseThatNobodyTold() async throws {
      let writer = try PostgresDatabase(url: own.url, connections: 1)
      let reader = try PostgresDatabase(
        url: own.url, connections: 1, pollInterval: .milliseconds(50))
      let account = try await writer.addAccount()
      _ = try await reader.keys(account)
      let heard = Mutex<Int64>(0)
      let news = AsyncStream<Int64>.makeStream()
      reader.observe { number, seq in if number == account { news.continuation.yield(seq) } }
      #expect(try await writer.put("a", in: account) == 1)
      _ = try own.shell("UPDATE keepsake_account SET seq = 9 WHERE id = \(account)")
      for await seq in news.stream {
        heard.withLock { $0 = max($0, seq) }
        if seq >= 9 { break }
      }
      #expect(heard.withLock(\.self) == 9)
      writer.close()
      reader.close()
    }

    @Test func anAccountThatIsGoneSaysSo() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1)
      let account = try await database.addAccount()
      _ = try await database.put("a", in: account)
      let member = HubMember(account: account, name: "phone\0", tokenHash: [1, 2], created: 3)
      var known = member
      known.number = try await database.onDirectory { try $0.addMember(member) }
      #expect(try await database.onDirectory { try $0.member(withToken: [1, 2]) } == known)
      try await database.onDirectory { try $0.removeAccount(account) }
      await #expect(throws: HubDatabaseError.noAccount) { try await database.keys(account) }
      #expect(try await database.onDirectory { try $0.member(withToken: [1, 2]) } == nil)
      #expect(try own.shell("SELECT count(*) FROM keepsake_row") == "0\n")
      database.close()
    }
  }
#endif
