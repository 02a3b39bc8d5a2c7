// SPDX-License-Identifier: Apache-2.0
//
// What a file must look like before a row of it is believed. A file may come from anywhere: the
// checks read only SQLite's header and `sqlite_schema`, run nothing the file brought along
// (`trusted_schema` is off), and refuse views and triggers outright.
// https://www.sqlite.org/security.html

import GRDB
import KeepsakeMigrations
import KeepsakeValues

enum Schema {
  /// Applies every migration that the file lacks.
  static func migrate(_ queue: DatabaseQueue) throws {
    try migrator.migrate(queue)
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for migration in Migrations.all {
      migrator.registerMigration(migration.identifier) { try $0.execute(sql: migration.sql) }
    }
    return migrator
  }

  /// Throws unless this is a complete file of ours that this version may use.
  static func check(_ connection: Connection, path: String) throws {
    let id = try connection.first("PRAGMA application_id") { $0.integer(0) }
    guard id == Int64(Migrations.applicationID) else {
      let kind = id == 0 ? "this is not a Keepsake file" : "this is another application's file"
      throw KeepsakeError(
        .notKeepsake, path: path, kind, cure: "name a file that kvsync or an app made")
    }
    try refuseCode(connection, path)
    let objects = try Self.objects(connection)
    let history = try history.get()
    guard objects["grdb_migrations"] != nil,
      history.contains(where: { $0["replica"] == objects["replica"] })
    else { throw damaged(path, "its schema is not one of ours") }
    let applied = Set(
      try connection.all("SELECT substr(identifier, 1, 100) FROM grdb_migrations LIMIT 1000") {
        $0.text(0)
      })
    try refuseNewer(connection, path)
    let known = Migrations.all.map(\.identifier)
    // Opening for writing applies the rest; whoever only reads takes an older file as it is.
    let version = known.prefix { applied.contains($0) }.count
    let expected = history[max(version, 1) - 1]
    // A newer version may have added to the tables; whether we may write is `min_writer`'s to say.
    let isNewer = !applied.isSubset(of: known)
    let fixed = isNewer ? expected.filter { core.contains($0.key) } : expected
    guard version > 0, isNewer ? version == known.count : applied.count == version,
      Set(objects.keys).isSuperset(of: expected.keys),
      fixed.allSatisfy({ objects[$0.key] == $0.value })
    else { throw damaged(path, "its schema is not one of ours") }
    let indexes = expected.values.count { $0.contains(" INDEX ") }
    try refuseOddities(connection, path, indexes: isNewer ? nil : indexes)
  }

  /// What no later version may change without raising `min_writer`.
  private static let core: Set = ["entry", "entry_lseq", "replica"]

  /// - Parameter indexes: how many there have to be; nil for any number.
  private static func refuseOddities(
    _ connection: Connection, _ path: String, indexes: Int?
  ) throws {
    // Text would neither compare nor travel as ours does.
    let encoding = try connection.first("PRAGMA encoding") { $0.text(0) }
    guard encoding == "UTF-8" else { throw damaged(path, "its text is not UTF-8") }
    // A unique index of somebody else's could refuse our rows.
    let found = try connection.first(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    ) { $0.integer(0) }
    guard indexes == nil || indexes == found.map(Int.init) else {
      throw damaged(path, "it has an index that is not ours")
    }
    // Beyond this, arrival numbers could run over.
    let last = try connection.first(
      "SELECT max(lseq, ifnull((SELECT max(lseq) FROM entry), 0)) FROM replica"
    ) { $0.integer(0) }
    guard let last, (0...(1 << 62)).contains(last) else {
      throw damaged(path, "its arrival numbers are at their end")
    }
  }

  private static func refuseCode(_ connection: Connection, _ path: String) throws {
    let code = try connection.first(
      "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index') LIMIT 1"
    ) { "\($0.text(0)) \"\($0.text(1))\"" }
    if let code {
      throw KeepsakeError(
        .notKeepsake, path: path, "it contains a \(code), which no file of ours has",
        cure: "do not trust this file; if it is yours, drop the \(code)")
    }
  }

  private static func refuseNewer(_ connection: Connection, _ path: String) throws {
    let oldest = try connection.first("SELECT min_writer FROM replica") { $0.integer(0) }
    guard let oldest else { throw damaged(path, "it has no identity") }
    try refuseNewer(than: oldest, path)
  }

  /// - Parameter oldest: the oldest schema version that may write.
  static func refuseNewer(than oldest: Int64, _ path: String) throws(KeepsakeError) {
    guard oldest <= Int64(Migrations.version) else {
      throw KeepsakeError(
        .newerSchema, path: path,
        "it needs schema version \(oldest), this program knows version \(Migrations.version)",
        cure: "update this program")
    }
  }

  private static func damaged(_ path: String, _ problem: String) -> KeepsakeError {
    KeepsakeError(.corrupt, path: path, problem, cure: "restore a backup of it")
  }

  private static func objects(_ connection: Connection) throws -> [String: String] {
    let rows = try connection.all(
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    ) { ($0.text(0), $0.text(1)) }
    return Dictionary(rows, uniquingKeysWith: { $1 })
  }

  /// The text of every object, as each version from 1 on has it; computed once in a process.
  private static let history = Result {
    let queue = try DatabaseQueue()
    return try queue.writeWithoutTransaction { database in
      try Migrations.all.map { migration in
        try database.execute(sql: migration.sql)
        return try objects(Connection(database: database, path: "(memory)"))
      }
    }
  }
}
