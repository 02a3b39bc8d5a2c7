// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// SQLite's exclusive lock on a file, whatever is in it: no connection of any process has it open.
package final class ExclusiveLock {
  private var database: OpaquePointer?

  package static func busy(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "a program has it open", cure: "close it there and try again")
  }

  package init(path: String, real: String) throws(KeepsakeError) {
    let uri = Location.file(real).uri(.readWrite)
    let code = sqlite3_open_v2(uri, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nil)
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard code == SQLITE_OK else { throw failure(code, path) }
    guard sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, let lock = file.pointee.pMethods?.pointee.xLock
    else { throw failure(SQLITE_MISUSE, path) }
    for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_EXCLUSIVE] {
      switch lock(file, level) {
      case SQLITE_OK: continue
      case SQLITE_BUSY: throw Self.busy(path)
      case let code: throw failure(code, path)
      }
    }
    // Another restore may have been quicker.
    var hasMoved: Int32 = 0
    sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard hasMoved == 0 else { throw Self.busy(path) }
  }

  private func failure(_ code: Int32, _ path: String) -> KeepsakeError {
    KeepsakeError(SQLiteError(code), path: path, on: database)
  }

  /// Nothing was read, so closing moves no log.
  package func release() {
    sqlite3_close(database)
    database = nil
  }

  deinit { release() }
}
