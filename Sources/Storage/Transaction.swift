// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite

extension Connection {
  init(_ database: Database, _ location: Location) {
    self.init(database: database, path: location.path)
  }

  package var isInTransaction: Bool { database.isInsideTransaction }

  /// How many rows this connection has ever touched.
  package var totalChanges: Int { database.totalChangesCount }

  /// Throws when the path leads to another file by now, or to none: SQLite would go on writing into
  /// the deleted file, which is never read again.
  package func refuseMovedFile() throws {
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    // A database in memory has no file to move.
    guard code == SQLITE_OK, hasMoved != 0 else { return }
    throw KeepsakeError(
      .inputOutput, path: path, "the file was deleted or replaced while it was open",
      cure: "put it back, or open the device anew")
  }

  package enum TransactionKind: String { case deferred = "BEGIN", immediate = "BEGIN IMMEDIATE" }

  /// Commits what `body` did, or rolls it back and throws. In a transaction, a savepoint of it.
  ///
  /// By our own statements, which are prepared once: GRDB prepares its own each time.
  package func transaction<Value>(
    _ kind: TransactionKind, _ body: (Connection) throws -> Value
  ) throws -> Value {
    let (begin, commit, rollBack) =
      isInTransaction
      ? ("SAVEPOINT part", "RELEASE part", ["ROLLBACK TO part", "RELEASE part"])
      : (kind.rawValue, "COMMIT", ["ROLLBACK"])
    let origin = Origin()
    // Prepared before it is needed: to roll back must not fail for want of memory.
    for sql in rollBack { _ = try database.cachedStatement(sql: sql) }
    try run(begin)
    do {
      let value = try body(self)
      try origin.refuseChild(path)
      try run(commit)
      return value
    } catch {
      // It is the parent's, and rolling back writes to memory that is shared.
      guard origin.isThisProcess else { throw error }
      // SQLite rolls back by itself when the disk is full or broken. What fails here fails for the
      // reason that is thrown.
      Result { if isInTransaction { for sql in rollBack { try run(sql) } } }.discardFailure()
      throw error
    }
  }
}
