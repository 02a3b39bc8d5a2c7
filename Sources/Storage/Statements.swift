// SPDX-License-Identifier: Apache-2.0
//
// The prepared statements of a connection that a storage keeps: ours, because to find one of GRDB's
// costs as much as a short statement does to run. SQLite prepares one again by itself when the
// schema has changed.

import GRDB
import GRDBSQLite
import Synchronization

/// A statement that runs for each write: every connection finds it by its number.
package struct FrequentStatement: Sendable {
  private static let count = Atomic<Int>(0)

  let sql: String
  fileprivate let number = Self.count.add(1, ordering: .relaxed).oldValue

  /// Made once in the life of the process, as a static constant.
  package init(_ sql: String) { self.sql = sql }
}

/// A connection that stays open, with its statements.
// Sendable: used only by the thread that is within its turnstile, which orders one thread's use
// before the next one's; but for opening and closing it, when no other thread knows it.
final class HeldDatabase: @unchecked Sendable {
  let queue: DatabaseQueue
  fileprivate let handle: OpaquePointer?
  private let database: Database
  private var statements: [String: OpaquePointer] = [:]
  private var frequent: [OpaquePointer?] = []

  init(_ queue: DatabaseQueue) {
    self.queue = queue
    database = queue.unsafeReentrantWrite { $0 }
    handle = database.sqliteConnection
    // GRDB's, for observers of its own, which we have none of. They insist on its queue.
    sqlite3_commit_hook(handle, nil, nil)
    sqlite3_rollback_hook(handle, nil, nil)
    // It notes what each statement reads and writes, and forgets it only where GRDB prepares one:
    // of ours, which every detachment has prepared anew, it would never forget any.
    sqlite3_set_authorizer(handle, nil, nil)
  }

  func connection(_ location: Location) -> Connection {
    Connection(database: database, held: self, path: location.path)
  }

  /// SQLite closes nothing while there are statements.
  func close() throws {
    for statement in statements.values { sqlite3_finalize(statement) }
    for statement in frequent { sqlite3_finalize(statement) }
    (statements, frequent) = ([:], [])
    try queue.close()
  }

  func statement(_ sql: String) throws -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    let statement = try prepare(sql)
    statements[sql] = statement
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
    let code = sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) }
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
    return statement
  }
}
