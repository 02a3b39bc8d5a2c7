// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// SQLite through its C API alone: the limit of what a file of this kind allows.
final class RawDatabase {
  let connection: OpaquePointer?

  init(_ path: String, synchronous: String = "NORMAL") throws {
    var opened: OpaquePointer?
    let code = sqlite3_open(path, &opened)
    connection = opened
    try check(code)
    sqlite3_busy_timeout(opened, 5_000)
    try execute("PRAGMA synchronous = \(synchronous)")
  }

  deinit { sqlite3_close_v2(connection) }

  func execute(_ sql: String) throws {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  func prepare(_ sql: String) throws -> RawStatement {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    return RawStatement(handle: statement, database: self)
  }

  func number(_ sql: String) throws -> Int64 {
    let statement = try prepare(sql)
    try statement.step()
    return statement.integer(0)
  }

  func check(_ code: Int32) throws {
    guard ![SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code) else { return }
    throw Failure("SQLite: \(String(cString: sqlite3_errmsg(connection)))")
  }
}

/// A prepared statement for many runs.
final class RawStatement {
  let handle: OpaquePointer?
  let database: RawDatabase

  init(handle: OpaquePointer?, database: RawDatabase) {
    (self.handle, self.database) = (handle, database)
  }

  deinit { sqlite3_finalize(handle) }

  func bind(_ place: Int32, _ number: Int64) { sqlite3_bind_int64(handle, place, number) }

  func bind(_ place: Int32, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(
          handle, place, $0.baseAddress, Int32($0.count),
          unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
    }
  }

  func step() throws { try database.check(sqlite3_step(handle)) }
  func reset() { sqlite3_reset(handle) }

  /// All of a statement without results that are looked at.
  func run() throws {
    defer { sqlite3_reset(handle) }
    while true {
      let code = sqlite3_step(handle)
      if code == SQLITE_ROW { continue }
      return try database.check(code)
    }
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func text(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
