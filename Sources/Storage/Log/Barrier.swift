// SPDX-License-Identifier: Apache-2.0
//
// What makes commits survive a power cut. At `synchronous = NORMAL` a commit is in the write-ahead
// log when it returns, but the log may still be in the system's cache. One sync of the log is the
// whole barrier: what is no longer in the log was synced when a checkpoint moved it to the file
// (https://www.sqlite.org/wal.html#checkpointing), and the first sync of a new log also syncs the
// folder that names it and the file. An empty transaction at FULL would sync nothing.

package import CSQLite
import KeepsakeValues

extension Storage {
  /// Waits until everything that this process has written is on stable storage.
  package func synchronize() throws(KeepsakeError) {
    guard !isReadOnly, file != nil else { return }
    try access { connection in
      try names?.check()
      try connection.sync(connection.logFile())
    }
  }
}

extension Connection {
  fileprivate func sync(_ file: UnsafeMutablePointer<sqlite3_file>) throws {
    let code = file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_FULL)
    guard code == SQLITE_OK else {
      throw SQLiteError(code, "the log could not be synced")
    }
  }

  /// Waits until the log is on stable storage.
  ///
  /// - Returns: false when the file has no log.
  func syncLog() throws -> Bool {
    guard try isLogged else { return false }
    // SQLite opens the log at the first reading.
    try run("SELECT count(*) FROM sqlite_schema")
    try sync(logFile())
    return true
  }

  /// SQLite's handle on the write-ahead log, which every commit through this connection goes to and
  /// those of other connections too. Valid within the access.
  package func logFile() throws -> UnsafeMutablePointer<sqlite3_file> {
    try file(SQLITE_FCNTL_JOURNAL_POINTER, "has no write-ahead log")
  }

  /// SQLite's handle on the file itself. Valid within the access.
  package func databaseFile() throws -> UnsafeMutablePointer<sqlite3_file> {
    try file(SQLITE_FCNTL_FILE_POINTER, "is not open")
  }

  private func file(
    _ which: Int32, _ absence: String
  ) throws -> UnsafeMutablePointer<sqlite3_file> {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", which, &file)
    guard code == SQLITE_OK, let file, file.pointee.pMethods != nil else {
      throw KeepsakeError(
        .inputOutput, path: path, "the file \(absence)", cure: "open the device anew")
    }
    return file
  }
}

/// What a write survives once it has returned.
///
/// See https://www.sqlite.org/pragma.html#pragma_synchronous: the two are `NORMAL` and `FULL` of a
/// database with a write-ahead log. On Apple systems, where fsync(2) may leave data in the disk's
/// own cache, SQLite uses `F_FULLFSYNC`.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum Durability: Sendable, Comparable {
  /// A crash of the program, also `kill -9`. A power cut, or a crash of the system, may take the
  /// last writes away; the file stays consistent.
  case crashSafe
  /// A power cut too, as far as the disk keeps its word: each commit waits for the disk.
  case powerSafe
}

extension Connection {
  /// Takes effect with the next transaction; SQLite ignores it within one.
  package func use(_ durability: Durability) throws {
    try run("PRAGMA synchronous = \(durability == .powerSafe ? "FULL" : "NORMAL")")
  }
}
