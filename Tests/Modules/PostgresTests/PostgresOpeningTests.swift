// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakePostgresMigrations
  import TestSupport
  import Testing

  @Suite(.enabled(if: Cluster.isPossible, Comment(rawValue: Cluster.need)))
  struct PostgresOpeningTests {
    private let own: TestDatabase

    init() throws { own = try TestDatabase() }

    /// The error of a hub that cannot start.
    private func refusal(_ url: String) throws -> String {
      let error = #expect(throws: HubStoreError.self) {
        try PostgresDatabase(url: url, connections: 1).close()
      }
      return "\(try #require(error))"
    }

    @Test func severalHubsMayStartAtOnce() async throws {
      let url = own.url
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 { group.addTask { try PostgresDatabase(url: url, connections: 1).close() } }
        try await group.waitForAll()
      }
      #expect(try own.shell("SELECT version FROM keepsake_schema") == "1\n")
    }

    @Test func severalHubsOfALaterVersionMigrateOnce() async throws {
      let address = try PostgresAddress(own.url)
      try PostgresSchema.migrate(address)
      let later = PostgresMigrations.all + ["ALTER TABLE keepsake_account ADD extra bigint"]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 { group.addTask { try PostgresSchema.migrate(address, by: later) } }
        try await group.waitForAll()
      }
      #expect(try own.shell("SELECT version FROM keepsake_schema") == "1\n2\n")
      #expect(try refusal(own.url).contains("version 2, which a later version of the hub made"))
    }

    @Test func aMigrationThatFailsLeavesTheTablesAsTheyWere() throws {
      let address = try PostgresAddress(own.url)
      try PostgresSchema.migrate(address)
      let broken = PostgresMigrations.all + ["DROP TABLE keepsake_mark; SELECT none"]
      #expect(throws: PostgresError.self) { try PostgresSchema.migrate(address, by: broken) }
      try PostgresSchema.migrate(address)
    }

    @Test(arguments: [
      "DROP TABLE keepsake_schema", "UPDATE keepsake_schema SET text = 'other'",
      "UPDATE keepsake_schema SET version = 0", "ALTER TABLE keepsake_schema DROP COLUMN text",
    ])
    func tablesThatNoHubHasMadeAreLeftAlone(change: String) throws {
      try PostgresDatabase(url: own.url, connections: 1).close()
      try own.shell(change)
      let problem = try refusal(own.url)
      #expect(problem.contains("line has made") || problem.contains("as a hub has made them"))
      #expect(try own.shell("SELECT count(*) FROM keepsake_row") == "0\n")
    }

    @Test func aMissingColumnIsReportedAtTheStart() throws {
      try PostgresDatabase(url: own.url, connections: 1).close()
      try own.shell("ALTER TABLE keepsake_replica DROP COLUMN number")
      #expect(try refusal(own.url).contains("its tables are not as a hub has made them"))
    }

    @Test func aDatabaseThatIsMissingAndARoleWithoutRightsAreReported() throws {
      #expect(try refusal(own.cluster.url("absent")).contains("does not exist"))
      let role = "r\(own.name)"
      try own.shell("CREATE ROLE \(role) LOGIN")
      let url = own.url.replacing("postgres:secret%21@", with: "\(role)@")
      let problem = try refusal(url)
      #expect(problem.contains("permission denied") && problem.contains("own the database"))
    }

    @Test func aPasswordThatIsWrongIsRefusedAndNotShown() throws {
      let role = "p\(own.name)"
      try own.shell("CREATE ROLE \(role) LOGIN PASSWORD 'right'")
      try own.cluster.askForPasswords(of: role)
      let url = own.url.replacing("postgres:secret", with: "\(role):wr0ng")
      let problem = try refusal(url)
      #expect(problem.contains("password authentication failed"))
      #expect(!problem.contains("wr0ng") && problem.hasPrefix("unavailable"))
    }

    @Test func anAddressThatCannotBeReadIsNotTold() throws {
      for url in ["postgresql://u:p%ss@h/d", "host=/x password=p%ss", "postgresql://u:p%ss"] {
        let problem = try refusal(url)
        #expect(problem.contains("cannot be read") && !problem.contains("p%ss"))
      }
    }

    @Test func anAddressWithoutAServerIsUnavailable() throws {
      let problem = try refusal("postgresql://u:secret@127.0.0.1:1,127.0.0.1:2/d")
      #expect(problem.hasPrefix("unavailable") && problem.contains("Connection refused"))
      #expect(!problem.contains("secret"))
    }

    @Test func everyMigrationOfPostgreSQLIsEmbeddedInOrder() throws {
      let folder = Checkout.path("Migrations/Postgres")
      let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".sql") }.sorted()
      let texts = try files.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
      #expect(texts == PostgresMigrations.all)
    }
  }
#endif
