// SPDX-License-Identifier: Apache-2.0
//
// What a file must look like before a row of it is believed. A file may come from anywhere: the
// checks read only SQLite's header and `sqlite_schema`, run nothing the file brought along
// (`trusted_schema` is off), and refuse views and triggers outright.
// https://www.sqlite.org/security.html

import KeepsakeMigrations
import KeepsakeValues

package enum Schema {
  /// Applies every migration that the file lacks, all of them or none.
  ///
  /// - Parameters:
  ///   - all: every migration that this version knows.
  ///   - willMigrate: runs after the look, before the transaction.
  static func migrate(
    _ connection: Connection, by all: [Migration], willMigrate: () -> Void = {}
  ) throws {
    guard try !missing(connection, of: all).isEmpty else { return }
    willMigrate()
    try connection.transaction(.immediate) { connection in
      // Others may have migrated the file since it was looked at.
      for migration in try missing(connection, of: all) {
        try connection.execute(migration.sql)
        try connection.run(
          "INSERT INTO migration (name, hash) VALUES (?1, ?2)",
          [.text(migration.name), .text(migration.hash)])
      }
    }
  }

  /// Everything, in an empty database; within the caller's transaction.
  static func create(_ connection: Connection) throws {
    try connection.run(migrationTable)
    try migrate(connection, by: Migrations.all)
  }

  private static func missing(
    _ connection: Connection, of all: [Migration]
  ) throws -> [Migration] {
    let applied = try applied(connection)
    return all.filter { applied[$0.name] == nil }
  }

  /// The hash of each migration of the file, by its name.
  private static func applied(_ connection: Connection) throws -> [String: String] {
    let rows = try connection.all(
      "SELECT substr(name, 1, 100), substr(hash, 1, 100) FROM migration LIMIT 1000"
    ) { ($0.text(0), $0.text(1)) }
    return Dictionary(rows, uniquingKeysWith: { $1 })
  }

  /// Throws unless this is a complete file of ours that this version may use. Within a transaction.
  ///
  /// - Parameter all: every migration that this version knows.
  /// - Returns: whether the file has all of these, and its last sequence number.
  @discardableResult
  static func check(
    _ connection: Connection, path: String, for all: [Migration] = Migrations.all
  ) throws -> (isMigrated: Bool, last: Int64) {
    let id = try connection.first("PRAGMA application_id") { $0.integer(0) }
    guard id == Int64(Migrations.applicationID) else {
      let kind = id == 0 ? "this is not a Keepsake file" : "this is another application's file"
      throw KeepsakeError(
        .notKeepsake, path: path, kind, cure: "name a file that kvsync or an app made")
    }
    let known = Dictionary(all.map { ($0.name, $0.hash) }, uniquingKeysWith: { $1 })
    let objects = try objects(connection)
    try refuseCode(objects, path)
    let applied = try objects["migration"] == migrationTable ? applied(connection) : [:]
    // The usual file needs no history, which takes as long as all else of opening.
    if applied != known || !arePresent(objects) {
      try refuseUnreleased(objects, applied, path)
      try refuseMismatch(objects, applied, known: known, all, path)
    }
    // Text in another encoding would neither compare nor sync as ours does.
    let encoding = try connection.first("PRAGMA encoding") { $0.text(0) }
    guard encoding == "UTF-8" else { throw damaged(path, "its text is not UTF-8") }
    return (applied.count == all.count, try lastSequenceNumber(connection, path))
  }

  /// Throws unless a file has exactly what the first migrations make.
  private static func refuseMismatch(
    _ objects: [String: String], _ applied: [String: String], known: [String: String],
    _ all: [Migration], _ path: String
  ) throws {
    guard applied.allSatisfy({ known[$0.key] == $0.value }) else {
      throw KeepsakeError(
        .newerSchema, path: path, "another version has changed its schema",
        cure: "update this program")
    }
    // Opening for writing applies the rest; a reader takes an older file as it is.
    let done = all.prefix { applied[$0.name] != nil }
    let expected = try done.count == applied.count ? Self.objects(of: Array(done)) : [:]
    guard !expected.isEmpty, expected.allSatisfy({ objects[$0.key] == $0.value }) else {
      throw damaged(path, "its schema is not one of ours")
    }
    try refuseOthers(among: objects, than: expected, path)
  }

  /// Whether these are the objects of this version.
  private static func arePresent(_ objects: [String: String]) -> Bool {
    let text = objects.filter { $0.key != "migration" }.sorted { $0.key < $1.key }
      .map { "-- \($0.key)\n\($0.value);\n" }.joined()
    // The text of one object could contain that of the next, which SQLite would not see.
    return objects.count == objectCount && text.isSameBytes(as: Migrations.schema)
  }

  /// With the list of migrations.
  private static let objectCount: Int = {
    let lines = Migrations.schema.utf8.split(separator: UInt8(ascii: "\n"))
    return 1 + lines.count { $0.starts(with: "-- ".utf8) }
  }()

  /// The list of applied migrations, and what ANALYZE leaves.
  private static let migrationTable =
    "CREATE TABLE migration (name TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL)"
  private static let statistics = [
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
  ]

  /// Throws for a file whose first migration has another text than the released one.
  private static func refuseUnreleased(
    _ objects: [String: String], _ applied: [String: String], _ path: String
  ) throws(KeepsakeError) {
    let first = Migrations.all[0]
    let hash = applied[first.name]
    guard objects["grdb_migrations"] != nil || hash.map({ $0 != first.hash }) == true else {
      return
    }
    throw KeepsakeError(
      .newerSchema, path: path, "it was made by a development version, before the first release",
      cure: "export it with the program that made it, and import that into a new file")
  }

  /// Throws for a table or an index that no version of ours makes: checks and VACUUM would work on
  /// it, and a unique index could refuse our rows.
  private static func refuseOthers(
    among objects: [String: String], than expected: [String: String], _ path: String
  ) throws(KeepsakeError) {
    let other = objects.filter {
      expected[$0.key] == nil && $0.key != "migration" && statistics[$0.key] != $0.value
    }.min { $0.key < $1.key }
    guard let other else { return }
    let kind = other.value.hasPrefix("CREATE TABLE") ? "a table" : "an index"
    throw damaged(path, "it has \(kind) that is not ours, \"\(other.key.prefix(100))\"")
  }

  /// Throws for a file of a newer version, or without an identity. `ReplicaState` also reads the
  /// newest entry, whose key may be too large for that.
  private static func lastSequenceNumber(
    _ connection: Connection, _ path: String
  ) throws -> Int64 {
    let replica = try connection.first(
      """
      SELECT min_writer, max(sequence_number, ifnull((SELECT max(sequence_number) FROM entry), 0))
      FROM replica
      """
    ) { (oldestWriter: $0.integer(0), last: $0.integer(1)) }
    guard let replica else { throw damaged(path, "it has no identity") }
    try refuseNewer(than: replica.oldestWriter, path)
    guard replica.last >= 0 else { throw damaged(path, "its sequence numbers are not ours") }
    return replica.last
  }

  /// Throws for a sequence number so large that a later one could run over. No device gets
  /// there by writing: this file was made so.
  package static func refuseExhausted(_ last: Int64, _ path: String) throws(KeepsakeError) {
    guard last < 1 << 62 else {
      throw KeepsakeError(
        .corrupt, path: path, "its sequence numbers are used up",
        cure: "export what it holds, and import that into a new device")
    }
  }

  /// Throws for views, triggers and virtual tables, by their text: the other columns of
  /// `sqlite_schema` can say what they like.
  private static func refuseCode(
    _ objects: [String: String], _ path: String
  ) throws(KeepsakeError) {
    let ours = ["CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX "]
    let code = objects.filter { object in !ours.contains { object.value.hasPrefix($0) } }
      .min { $0.key < $1.key }
    guard let code else { return }
    let kind = code.value.lowercased().split(separator: " ").dropFirst().first ?? "statement"
    let name = "\(kind) \"\(code.key.prefix(100))\""
    throw KeepsakeError(
      .notKeepsake, path: path, "it contains a \(name), which no file of ours has",
      cure: "do not trust this file; if it is yours, drop the \(name)")
  }

  /// Throws for a file that a newer version has made its own.
  package static func refuseNewer(_ connection: Connection, _ path: String) throws {
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

  package static func damaged(_ path: String, _ problem: String) -> KeepsakeError {
    KeepsakeError(.corrupt, path: path, problem, cure: "restore a backup of it")
  }

  private static func objects(_ connection: Connection) throws -> [String: String] {
    let rows = try connection.all(
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    ) { ($0.text(0), $0.text(1)) }
    let objects = Dictionary(rows, uniquingKeysWith: { $1 })
    // A duplicate name would mask a damaged object.
    guard objects.count == rows.count else {
      throw damaged(connection.path, "two objects of its schema have one name")
    }
    return objects
  }

  /// The text of every object that migrations make.
  private static func objects(of migrations: [Migration]) throws -> [String: String] {
    guard !migrations.isEmpty else { return [:] }
    // A name of its own: SQLite shares a database in memory by its name.
    let database = try Connector.connect(
      .memory(name: "schema-\(ReplicaID.random())"), .readWrite, BusyHandler(.zero))
    let connection = database.connection("(memory)")
    for migration in migrations { try connection.execute(migration.sql) }
    return try objects(connection)
  }
}
