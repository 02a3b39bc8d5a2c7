// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// SQLite through its C API alone: the limit that the benchmarks compare with.
final class RawDatabase {
  private var connection: OpaquePointer?

  struct Failure: Error {
    let code: Int32
    let message: String
  }

  init(_ path: String) throws {
    try check(sqlite3_open(path, &connection))
  }

  deinit { sqlite3_close(connection) }

  func execute(_ sql: String) throws {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    return statement
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw Failure(code: code, message: String(cString: sqlite3_errmsg(connection)))
  }
}

/// A prepared statement for many runs.
func run(_ statement: OpaquePointer?) {
  sqlite3_step(statement)
  sqlite3_reset(statement)
}
