// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// A file as any program opens it with SQLite.
package final class PlainDatabase {
  private var handle: OpaquePointer?

  package init(_ path: String, checkpointsAt pages: Int32 = 1000) throws {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw failure }
    sqlite3_busy_timeout(handle, 60_000)
    sqlite3_wal_autocheckpoint(handle, pages)
  }

  deinit { sqlite3_close_v2(handle) }

  private var failure: ScheduleFailure {
    ScheduleFailure("SQLite: " + String(cString: sqlite3_errmsg(handle)))
  }

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Runs statements without results.
  package func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  /// The first column of a statement's rows.
  package func texts(_ sql: String) throws -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while case let step = sqlite3_step(statement), step != SQLITE_DONE {
      guard step == SQLITE_ROW else { throw failure }
      texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
    }
    return texts
  }
}
