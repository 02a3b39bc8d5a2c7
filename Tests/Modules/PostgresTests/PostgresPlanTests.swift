// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakePostgres
  import Testing

  /// The cost of a request does not depend on the statistics of the tables.
  @Suite(.enabled(if: Cluster.isPossible, Comment(rawValue: Cluster.need)))
  struct PostgresPlanTests {
    private let own: TestDatabase

    init() throws {
      own = try TestDatabase()
      try PostgresDatabase(url: own.url, connections: 1).close()
    }

    /// The plan of each statement that has one.
    private func plans() throws -> [String: String] {
      let planned = PostgresWorker.statements.filter {
        $0.sql.contains("keepsake_") && !$0.sql.hasPrefix("INSERT")
      }
      let explained = planned.map { statement in
        let count = (1...20).last { statement.sql.contains("$\($0)") } ?? 0
        let nulls = Array(repeating: "NULL", count: count).joined(separator: ", ")
        let values = count == 0 ? "" : "(\(nulls))"
        return HubStatement(
          "plan_of_\(statement.name)", "EXPLAIN (COSTS off) EXECUTE \(statement.name)\(values)")
      }
      let connection = try PostgresConnection(
        PostgresAddress(own.url), prepare: planned + explained)
      return try zip(planned, explained).reduce(into: [:]) { plans, pair in
        let result = try connection.run(pair.1)
        plans[pair.0.name] = (0..<result.count).map { result.text($0, 0) }
          .joined(separator: "\n")
      }
    }

    @Test(arguments: [
      "SELECT", "ANALYZE",
      // One row for each account: then both indexes seem to find one row.
      """
      INSERT INTO keepsake_row SELECT n, 1, 0, 'key', 'value' FROM generate_series(1, 1000) AS n;
      ANALYZE
      """,
      // One account alone: then one seems to have all rows.
      """
      INSERT INTO keepsake_row SELECT 1, n, 0, convert_to(n::text, 'UTF8'), 'v'
        FROM generate_series(1, 20000) AS n; ANALYZE
      """,
    ])
    func everyStatementLooksUpWhatItNeeds(rows: String) throws {
      try own.shell(rows)
      let plans = try plans()
      for (name, plan) in plans {
        #expect(!plan.contains("Seq Scan"), "\(name): \(plan)")
        // It joins the account with one row of sums.
        #expect(name == "push_take" || !plan.contains("Join Filter"), "\(name): \(plan)")
        #expect(!plan.contains("Materialize"), "\(name): \(plan)")
      }
      for (name, index) in [
        ("rows", "keepsake_row_number"), ("outlines", "keepsake_row_pkey"),
        ("device", "keepsake_device_token"), ("mark", "keepsake_mark_pkey"),
        ("push_take", "keepsake_row_pkey"), ("replica", "keepsake_replica_pkey"),
        ("forget_row", "keepsake_row_pkey"), ("push_drop_vectors", "keepsake_vectors_pkey"),
        ("vectors", "keepsake_vectors_pkey"),
      ] {
        let plan = try #require(plans[name])
        #expect(plan.contains(index), "\(name): \(plan)")
      }
    }
  }
#endif
