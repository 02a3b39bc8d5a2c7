// SPDX-License-Identifier: Apache-2.0
//
// Checks a database before its rows are read. The database has the text of each migration that made
// its tables, so tables of another program, or of a version that was never released, are refused.

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakePostgresMigrations

  package enum PostgresSchema {
    /// The key of the advisory lock, "keep": if several hubs start at once, one migrates.
    private static let lock = 0x6B65_6570
    /// The maximum time of a migration in seconds, and of the wait for another hub's.
    private static let timeout = 3600.0

    /// Migrates the schema to this version, completely or not at all, and prepares its statements.
    ///
    /// - Parameter migrations: the text of each, in order.
    package static func migrate(
      _ address: PostgresAddress, by migrations: [String] = PostgresMigrations.all
    ) throws {
      let connection = try PostgresConnection(address, timeout: timeout, prepare: [])
      try connection.run(
        """
        BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0;
        SELECT pg_advisory_xact_lock(\(lock))
        """)
      let known = try check(connection, address.name, migrations)
      for number in known..<migrations.count {
        try connection.run(migrations[number])
        try connection.run(
          "INSERT INTO keepsake_schema VALUES (\(number + 1), $text$\(migrations[number])$text$)")
      }
      try connection.run("COMMIT")
      try connection.prepare(PostgresWorker.statements)
    }

    /// - Returns: the number of migrations that the database has.
    private static func check(
      _ connection: PostgresConnection, _ name: String, _ migrations: [String]
    ) throws -> Int {
      let tables = try connection.run(
        """
        SELECT relname = 'keepsake_schema' FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v', 'p', 'f')
          AND starts_with(relname, 'keepsake_') ORDER BY 1 DESC
        """)
      guard tables.count > 0 else {
        try connection.run(
          "CREATE TABLE keepsake_schema (version bigint PRIMARY KEY, text text NOT NULL)")
        return 0
      }
      guard tables.text(0, 0) == "t" else { throw foreign(name) }
      let known = try connection.run(
        "SELECT version, text FROM keepsake_schema ORDER BY version")
      guard known.count <= migrations.count else {
        throw HubStoreError.broken(
          "\(name): its tables are of version \(known.count), which a later version of the hub "
            + "made, and this one knows version \(migrations.count); start the later one")
      }
      let isOurs = (0..<known.count).allSatisfy { row in
        known.text(row, 0) == "\(row + 1)" && known.text(row, 1) == migrations[row]
      }
      guard isOurs else { throw foreign(name) }
      return known.count
    }

    private static func foreign(_ name: String) -> HubStoreError {
      .broken(
        "\(name): it has tables named keepsake_… that no hub of this version's line has made; "
          + "name a database of its own for the hub, or move them away")
    }
  }
#endif
