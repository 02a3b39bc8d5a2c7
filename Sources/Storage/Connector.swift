// SPDX-License-Identifier: Apache-2.0

import CSQLite

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
