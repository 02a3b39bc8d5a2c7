// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import HubStoreSupport
  import KeepsakeHubServer
  import KeepsakePostgres
  import Testing

  /// A server that stops, and is started again: no other test may have it.
  @Suite(.enabled(if: Cluster.isPossible, Comment(rawValue: Cluster.need)))
  struct PostgresFailureTests {
    private let own: TestDatabase

    init() throws { own = try TestDatabase(of: Cluster()) }

    private func refusal(_ work: () async throws -> Void) async throws -> String {
      let error = await #expect(throws: HubStoreError.self) { try await work() }
      return "\(try #require(error))"
    }

    @Test func connectionsThatEndAndServersThatStartAgainLoseNothing() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 2)
      let account = try await database.addAccount(7)
      #expect(try await database.put("a\0", in: account) == 1)
      try own.shell(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
          + "WHERE application_name = 'keepsake-hub'")
      #expect(try await database.put("b", in: account) == 2)
      try own.cluster.stop()
      try own.cluster.start()
      #expect(try await database.put("c", in: account) == 3)
      #expect(try await database.keys(of: account) == ["a\0", "b", "c"])
      database.close()
    }

    @Test func aServerThatIsGoneOrTakesNoWritesIsUnavailableAndItsPasswordIsNotTold() async throws {
      let database = try PostgresDatabase(
        url: own.url, connections: 1, timeout: .milliseconds(300))
      let account = try await database.addAccount(7)
      try own.cluster.stop()
      let gone = try await refusal { _ = try await database.put("a", in: account) }
      #expect(gone.hasPrefix("unavailable") && !gone.contains("secret!"))
      try own.cluster.start()
      try own.shell("ALTER SYSTEM SET default_transaction_read_only = on")
      try own.shell("SELECT pg_reload_conf()")
      while try own.shell("SHOW default_transaction_read_only") != "on\n" {}
      let readOnly = try await refusal { _ = try await database.put("a", in: account) }
      #expect(readOnly.hasPrefix("unavailable"))
      database.close()
      let second = try await refusal { try PostgresDatabase(url: own.url).close() }
      #expect(second.hasPrefix("unavailable") && second.contains("read-only"))
    }

    @Test func tooManyConnectionsAreUnavailableUntilSomeEnd() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1, timeout: .seconds(1))
      try own.shell("CREATE ROLE small LOGIN CONNECTION LIMIT 0")
      let url = own.url.replacing("postgres:secret%21@", with: "small@")
      let problem = try await refusal { try PostgresDatabase(url: url).close() }
      #expect(problem.hasPrefix("unavailable") && problem.contains("too many connections"))
      try await database.addAccount(7)
      database.close()
    }

    @Test func aServerThatGoesAwayInTheMiddleLeavesNoLock() async throws {
      let first = try PostgresDatabase(url: own.url, connections: 1, timeout: .seconds(1))
      let second = try PostgresDatabase(url: own.url, connections: 1)
      let (account, shell) = (try await first.addAccount(7), own)
      let problem = try await refusal {
        // It runs again, as nothing was committed, until its time is over.
        _ = try await first.run(
          .put(["a"], in: account) {
            try shell.shell(
              "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                + "WHERE state = 'idle in transaction'")
          })
      }
      #expect(problem.hasPrefix("unavailable"))
      #expect(try await second.put("a", in: account) == 1)
      #expect(try await first.put("b", in: account) == 2)
      first.close()
      second.close()
    }

    @Test func aServerThatIsFrozenIsGivenUpAndItsWorkIsCancelled() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1, timeout: .seconds(4))
      let account = try await database.addAccount(7)
      try own.shell("ALTER SYSTEM SET synchronous_standby_names = 'none'")
      try own.shell("SELECT pg_reload_conf()")
      while try own.shell("SHOW synchronous_standby_names") != "none\n" {}
      // The commit waits for a standby that never comes.
      async let refused = refusal { _ = try await database.put("a", in: account) }
      let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
      while try own.shell(waiting) == "0\n" {}
      // Reading goes on meanwhile.
      #expect(try await database.keys(of: account) == [])
      let problem = try await refused
      #expect(problem.hasPrefix("unavailable"), "\(problem)")
      while try own.shell(waiting) != "0\n" {}
      try own.shell("ALTER SYSTEM RESET synchronous_standby_names")
      try own.shell("SELECT pg_reload_conf()")
      #expect(try await database.put("b", in: account) == 2)
      database.close()
    }
  }
#endif
