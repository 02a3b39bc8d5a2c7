// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import Histories
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeValues

  /// Two processes of a hub in one: requests go to either in turn.
  final class PostgresKeeper: TwinHub.Keeper {
    private let url: String
    private let databases: [PostgresDatabase]
    private var turn = 0
    private var images = 0
    private static let tables = [
      "account", "row", "held", "seen", "revocation", "peer",
    ]

    init(_ url: String) throws {
      self.url = url
      databases = try (0..<2).map { _ in try PostgresDatabase(url: url, connections: 1) }
    }

    var database: any HubDatabase {
      turn += 1
      return databases[turn % 2]
    }

    private func shell(_ sql: String) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "psql", "-q", "-X", "-v", "ON_ERROR_STOP=1", "-c", "BEGIN; \(sql) COMMIT;", url,
      ]
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw HubDatabaseError.broken("psql") }
    }

    func image() throws -> any Sendable {
      images += 1
      let name = "image_\(images)"
      try shell(
        "SET client_min_messages = warning;"
          + Self.tables.map { "DROP TABLE IF EXISTS \(name)_\($0);" }.joined()
          + Self.tables.map { "CREATE TABLE \(name)_\($0) AS TABLE keepsake_\($0);" }.joined())
      return name
    }

    func restore(_ image: any Sendable) throws {
      try shell(
        Self.tables.map { table in
          "DELETE FROM keepsake_\(table);"
            + "INSERT INTO keepsake_\(table) OVERRIDING SYSTEM VALUE TABLE \(image)_\(table);"
        }.joined())
    }

    deinit { for database in databases { database.close() } }
  }
#endif
