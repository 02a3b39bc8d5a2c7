// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer

  /// The tables, and which migrations made them. A shipped migration is never edited.
  enum PostgresSchema {
    static let migrations = [String(decoding: PackageResources.V001_initial_sql, as: UTF8.self)]

    /// "keepsake", for the advisory lock: of several hubs that start at once one migrates.
    private static let lock = 0x6B65_6570

    /// Brings the schema up to this version, all of it or nothing.
    static func migrate(_ address: PostgresAddress) throws {
      let version = Statement("version", "SELECT version::bigint FROM keepsake_schema")
      let connection = try PostgresConnection(address, prepare: [])
      try connection.leavePipeline()
      try connection.run(
        """
        BEGIN; SELECT pg_advisory_xact_lock(\(lock));
        CREATE TABLE IF NOT EXISTS keepsake_schema (version integer NOT NULL);
        INSERT INTO keepsake_schema SELECT 0 WHERE NOT EXISTS (SELECT FROM keepsake_schema)
        """)
      let known = try connection.first(version.sql).number(0, 0)
      guard known <= Int64(migrations.count) else {
        throw HubDatabaseError.broken(
          "\(address.name): its tables are of version \(known), which a later version of the hub "
            + "made; start that one")
      }
      for number in Int(known)..<migrations.count {
        try connection.run(migrations[number])
        try connection.run("UPDATE keepsake_schema SET version = \(number + 1)")
      }
      try connection.run("COMMIT")
    }
  }
#endif
