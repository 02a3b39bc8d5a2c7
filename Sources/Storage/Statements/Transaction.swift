// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// The statements around a transaction, or around a part of one.
private struct Boundary {
  let begin: FrequentStatement
  let commit: FrequentStatement
  let rollBack: [FrequentStatement]

  private static let commitAll = FrequentStatement("COMMIT")
  private static let rollAllBack = FrequentStatement("ROLLBACK")
  private static let release = FrequentStatement("RELEASE part")

  static let deferred = Boundary(
    begin: FrequentStatement("BEGIN"), commit: commitAll, rollBack: [rollAllBack])
  static let immediate = Boundary(
    begin: FrequentStatement("BEGIN IMMEDIATE"), commit: commitAll, rollBack: [rollAllBack])
  static let savepoint = Boundary(
    begin: FrequentStatement("SAVEPOINT part"), commit: release,
    rollBack: [FrequentStatement("ROLLBACK TO part"), release])
}

extension Connection {
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// How many rows this connection has ever touched.
  package var totalChanges: Int { Int(sqlite3_total_changes(handle)) }

  /// Throws when the path leads to another file by now, or to none: SQLite would go on writing into
  /// the deleted file, which is never read again.
  package func refuseMovedFile() throws {
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(
      handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    // A database in memory has no file to move.
    guard code == SQLITE_OK, hasMoved != 0 else { return }
    throw KeepsakeError.movedAway(path)
  }

  package enum TransactionKind { case deferred, immediate }

  /// Commits what `body` did, or rolls it back and throws. In a transaction, a savepoint of it.
  package func transaction<Value>(
    _ kind: TransactionKind, _ body: (Connection) throws -> Value
  ) throws -> Value {
    let boundary = isInTransaction ? Boundary.savepoint : kind == .deferred ? .deferred : .immediate
    // Prepared before it is needed: to roll back must not fail for want of memory.
    for statement in boundary.rollBack { _ = try prepared(statement) }
    try run(boundary.begin)
    do {
      let value = try body(self)
      try run(boundary.commit)
      return value
    } catch {
      // SQLite rolls back by itself when the disk is full or broken. What fails here fails for the
      // reason that is thrown.
      Result { if isInTransaction { for part in boundary.rollBack { try run(part) } } }
        .discardFailure()
      throw error
    }
  }
}
