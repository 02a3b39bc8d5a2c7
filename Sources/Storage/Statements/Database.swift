// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Synchronization

/// A statement that runs for each write: every connection finds it by its number.
package struct FrequentStatement: Sendable {
  private static let count = Atomic<Int>(0)

  let sql: String
  fileprivate let number = Self.count.add(1, ordering: .relaxed).oldValue

  /// Made once in the life of the process, as a static constant.
  package init(_ sql: String) { self.sql = sql }
}

/// The text of a statement, hashed by its length and its end alone: few statements share both.
private struct StatementText: Hashable {
  let sql: String

  init(_ sql: String) { self.sql = sql }

  func hash(into hasher: inout Hasher) {
    hasher.combine(sql.utf8.count)
    for byte in sql.utf8.suffix(16) { hasher.combine(byte) }
  }
}

/// SQLite's connection to a file, with its prepared statements.
///
/// SQLite prepares a statement again by itself when the schema has changed.
// Sendable: used by one thread at a time, as by the one that has its lock, which orders
// one thread's use before the next one's.
final class Database: @unchecked Sendable {
  /// Nil when it is closed.
  private(set) var handle: OpaquePointer?
  private let busyHandler: BusyHandler
  let limit = WorkLimit()
  private var statements: [StatementText: OpaquePointer] = [:]
  private var frequent: [OpaquePointer?] = []

  /// - Parameters:
  ///   - uri: https://www.sqlite.org/uri.html
  ///   - flags: of `sqlite3_open_v2`, beside those that every connection has.
  /// - Throws: `SQLiteError`.
  init(_ uri: String, _ flags: Int32, _ busyHandler: BusyHandler) throws {
    self.busyHandler = busyHandler
    let usual = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    try check(sqlite3_open_v2(uri, &handle, flags | usual, nil), uri)
    try check(keepsake_refuse_double_quoted_text(handle), uri)
    sqlite3_busy_handler(
      handle,
      { context, attempt in
        guard let context else { return 0 }
        let handler = Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
        return handler.wait(attempt: Int(attempt)) ? 1 : 0
      }, Unmanaged.passUnretained(busyHandler).toOpaque())
    limit.watch(handle)
  }

  deinit { close() }

  /// The connection for one access.
  func connection(_ location: Location) -> Connection { connection(location.path) }

  /// - Parameter path: for messages.
  func connection(_ path: String) -> Connection { Connection(database: self, path: path) }

  /// Ends what runs and closes the file; the last connection of a file moves its log into it, if
  /// that can be done.
  func close() {
    // SQLite closes nothing while there are statements.
    for statement in statements.values { sqlite3_finalize(statement) }
    for statement in frequent { sqlite3_finalize(statement) }
    (statements, frequent) = ([:], [])
    sqlite3_close_v2(handle)
    handle = nil
  }

  func statement(_ sql: String) throws -> OpaquePointer {
    let text = StatementText(sql)
    if let statement = statements[text] { return statement }
    let statement = try prepare(sql)
    statements[text] = statement
    return statement
  }

  func statement(_ statement: FrequentStatement) throws -> OpaquePointer {
    let number = statement.number
    if number < frequent.count, let prepared = frequent[number] { return prepared }
    let prepared = try prepare(statement.sql)
    if number >= frequent.count {
      frequent += Array(repeating: nil, count: number + 1 - frequent.count)
    }
    frequent[number] = prepared
    return prepared
  }

  private func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil), sql)
    guard let statement else { throw SQLiteError(SQLITE_MISUSE, "no statement", sql: sql) }
    return statement
  }

  /// Replaces the contents of another database with a copy of this one.
  func backUp(to copy: Database) throws {
    guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else {
      throw SQLiteError(sqlite3_extended_errcode(copy.handle), of: copy.handle)
    }
    let code = sqlite3_backup_step(backup, -1)
    sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE else { throw SQLiteError(code, of: copy.handle) }
  }

  private func check(_ code: Int32, _ sql: String) throws {
    guard code != SQLITE_OK else { return }
    throw SQLiteError(code, of: handle, sql: sql)
  }
}

/// Makes connections that are set up as all of ours have to be.
enum Connector {
  /// Bytes of a field and of a row, on every connection: SQLite reads nothing larger into memory,
  /// also of a foreign file. 16 MiB for a value, and 1 MiB for its names.
  static let maximumRow: Int32 = 17 << 20

  /// A bare connection; nothing of the file has been believed yet.
  ///
  /// - Parameter isSole: whether it keeps every other one out, from its first reading on.
  static func connect(
    _ location: Location, _ mode: Location.Mode, _ busyHandler: BusyHandler, isSole: Bool = false
  ) throws -> Database {
    let flags =
      mode == .readOnly || mode == .immutable
      ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let database = try Database(location.uri(mode), flags, busyHandler)
    sqlite3_limit(database.handle, SQLITE_LIMIT_LENGTH, maximumRow)
    // First: some of the others read the file.
    var statements = isSole ? "PRAGMA locking_mode = EXCLUSIVE;" : ""
    statements += """
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA synchronous = NORMAL;
      PRAGMA fullfsync = ON;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = 4194304;
      """
    if mode == .queryOnly { statements += "PRAGMA query_only = ON;" }
    // The first reading, while the connection can still say why it failed. An immutable file is
    // locked before.
    if mode != .immutable { statements += "SELECT 1 FROM sqlite_schema LIMIT 1;" }
    let connection = database.connection(location)
    try connection.explaining { try connection.execute(statements) }
    return database
  }
}
