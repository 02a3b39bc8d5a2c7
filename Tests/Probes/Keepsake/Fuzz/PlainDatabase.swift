// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// A file as any program opens it with SQLite.
final class PlainDatabase {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var handle: OpaquePointer?

  init(path: String) throws {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw failure }
  }

  deinit { sqlite3_close_v2(handle) }

  private var failure: Failure { Failure(description: String(cString: sqlite3_errmsg(handle))) }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Runs statements without results.
  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  /// The first column of a statement's rows.
  func texts(_ sql: String) throws -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
    }
    return texts
  }
}
