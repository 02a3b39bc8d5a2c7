// SPDX-License-Identifier: Apache-2.0
//
// Checks the schema of a hub's file before its rows are read, as `Schema.swift` does for a
// device's.

import Foundation
import KeepsakeHubMigrations
import KeepsakeStorage

enum HubSchema {
  /// - Returns: a connection to a file that is a hub's, of this version.
  ///
  /// - Parameter migrations: the text of each, in order.
  static func open(
    _ path: String, _ busyTimeout: Duration, _ migrations: [String]
  ) throws(KeepsakeError) -> SoleConnection {
    try makeEmpty(path)
    do {
      let sole = try HubLog.open(path) {
        try SoleConnection(path: path, busyTimeout: busyTimeout)
      }
      try sole.access { connection in
        try connection.run("PRAGMA cache_size = -65536")
        let version = try isEmpty(connection) ? 0 : check(connection, migrations)
        if version < migrations.count {
          try connection.transaction(.immediate) { connection in
            for migration in migrations[version...] { try connection.execute(migration) }
            try checkObjects(connection, migrations)
          }
        }
        let journal = try connection.first("PRAGMA journal_mode = WAL") { $0.text(0) }
        guard journal == "wal" else {
          throw KeepsakeError(
            .inputOutput, path: path, "the file cannot have a write-ahead log",
            cure: "move it to a local disk")
        }
        try connection.use(.powerSafe)
      }
      return sole
    } catch {
      throw explained(KeepsakeError(error, path: path))
    }
  }

  /// The same error in terms of a hub.
  private static func explained(_ error: KeepsakeError) -> KeepsakeError {
    switch error.code {
    case .locked:
      KeepsakeError(
        .locked, path: error.path, "another program has it open, as another hub",
        cure: "end that first", cause: error.cause)
    case .notKeepsake:
      KeepsakeError(
        .notKeepsake, path: error.path, error.problem.replacing("a Keepsake file", with: kind),
        cure: "name a hub's file, or one that is not there", cause: error.cause)
    default: error
    }
  }

  private static let kind = "a hub's file"

  /// Creates an empty file if there is none. Only its owner may read it: values are not encrypted.
  private static func makeEmpty(_ path: String) throws(KeepsakeError) {
    if let status = try FileStatus(of: path) {
      guard status.kind == .regular else {
        let what = status.kind == .folder ? "this is a folder" : "this is not a regular file"
        throw explained(KeepsakeError(.notKeepsake, path: path, what, cure: ""))
      }
      return try refuseReadOnly(path)
    }
    let real = Location.real(path)
    try Creation.refuseOrphanedLog(of: real)
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    // Another hub may have created it meanwhile.
    guard descriptor >= 0 || errno == EEXIST else { throw Creation.cannotCreate(path, errno) }
    // No connection of this process has it open yet, so no lock is lost.
    if descriptor >= 0 { close(descriptor) }
  }

  private static func refuseReadOnly(_ path: String) throws(KeepsakeError) {
    for needed in [path, FileStatus.folder(of: Location.real(path))] {
      guard access(needed, W_OK) == 0 else {
        throw KeepsakeError(
          .permissionDenied, path: path, "the file or its folder is read-only",
          cure: "make both writable: SQLite keeps its log beside the file")
      }
    }
  }

  private static func isEmpty(_ connection: Connection) throws -> Bool {
    try connection.first("PRAGMA page_count") { $0.integer(0) } == 0
  }

  /// - Returns: the number of migrations that the file has.
  @discardableResult
  static func check(
    _ connection: Connection, _ migrations: [String] = HubMigrations.all
  ) throws -> Int {
    let version = try checkObjects(connection, migrations)
    try refuseCutOff(connection)
    return version
  }

  /// - Returns: the number of migrations that the file has.
  @discardableResult
  private static func checkObjects(
    _ connection: Connection, _ migrations: [String]
  ) throws -> Int {
    let id = try connection.first("PRAGMA application_id") { $0.integer(0) }
    guard id == HubMigrations.applicationID else {
      let isDevice = try connection.hasTable("replica")
      throw KeepsakeError(
        .notKeepsake, path: connection.path,
        isDevice ? "this is a device's file" : "this is not \(kind)", cure: "")
    }
    let version = Int(try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0)
    guard version <= migrations.count else {
      throw KeepsakeError(
        .newerSchema, path: connection.path,
        "it has schema version \(version), this program knows version \(migrations.count)",
        cure: "update this program")
    }
    // SQLite stores each statement as the migration has it.
    let objects = try connection.all(
      """
      SELECT substr(sql, 1, 10000) FROM sqlite_schema
      WHERE sql IS NOT NULL LIMIT 100
      """
    ) { $0.text(0) }
    let expected = migrations.prefix(max(version, 0)).joined(separator: "\n")
    let count = expected.split(separator: "\n").count { $0.hasPrefix("CREATE ") }
    guard version > 0, Set(objects).count == count, objects.count == count,
      objects.allSatisfy({ expected.contains("\n\($0);") })
    else {
      throw KeepsakeError(
        .newerSchema, path: connection.path, "its schema is not one of ours",
        cure: "restore a backup of it, or name a new file, which gets everything from the devices")
    }
    return version
  }

  /// Throws if the file's end is missing: SQLite would read the rest of the last page as zeros.
  private static func refuseCutOff(_ connection: Connection) throws {
    let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
    let size = try connection.first("PRAGMA page_size") { $0.integer(0) } ?? 0
    let real = Location.real(connection.path)
    guard (try FileStatus(of: real + "-wal")?.size ?? 0) == 0,
      let file = try FileStatus(of: real), file.size < pages * size
    else { return }
    throw Schema.damaged(connection.path, "the file is damaged (its end is missing)")
  }
}
