// SPDX-License-Identifier: Apache-2.0
//
// Moves committed pages from the write-ahead log into the file.
//
// SQLite 3.7.0 to 3.51.2 (but for 3.44.6 and 3.50.7) lose commits when a checkpoint overlaps a
// commit of another connection that starts the log anew: the checkpoint notes its old number of
// frames as moved, and later ones skip the new frames of the same numbers
// (https://www.sqlite.org/wal.html#walresetbug). Only a commit can start the log anew, so:
// - No connection checkpoints by itself (`wal_autocheckpoint = 0` on each).
// - A checkpoint is PASSIVE, run by one connection while another one holds BEGIN IMMEDIATE: no
//   other connection commits meanwhile, in any process.
// - FULL, RESTART and TRUNCATE are not used: where the write lock stays busy SQLite makes them
//   PASSIVE ones without it. `journal_size_limit` shortens the log instead, at its next start.
// - The checkpoint of the last connection to close is safe: SQLite makes it under the exclusive
//   lock of the file (sqlite3WalClose), and every connection that has a log open holds a shared
//   one from its first read to its end. So there is no other connection, and none can come.

import CSQLite
import KeepsakeValues

package enum Checkpoint {
  /// Moves all that readers do not hold back.
  ///
  /// By two connections of its own, so that this process can read meanwhile.
  ///
  /// - Parameters:
  ///   - limit: how long to wait for the write lock.
  ///   - writers: of this process, wait for it as long as it takes.
  ///   - names: of the connection that this process has open, if any.
  /// - Returns: whether the log holds nothing any more that the file lacks.
  /// - Throws: `KeepsakeError`; then everything is still in the log.
  @discardableResult
  package static func run(
    _ location: Location, waiting limit: Duration, writers: BusyHandler? = nil,
    _ names: NameCheck? = nil
  ) throws(KeepsakeError) -> Bool {
    guard case .file = location else { return true }
    do {
      // Without this check these connections would use this process's index with another log.
      try names?.check()
      let busyHandler = BusyHandler(limit)
      let holder = try Connector.connect(location, .readWrite, busyHandler)
      defer { holder.close() }
      let mover = try Connector.connect(location, .readWrite, busyHandler)
      // What fails in closing fails because others have the file open, and they go on.
      defer { mover.close() }
      let connection = mover.connection(location)
      return try connection.explaining {
        try run(location, holder.connection(location), connection, writers, names)
      }
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }

  private static func run(
    _ location: Location, _ holder: Connection, _ mover: Connection, _ writers: BusyHandler?,
    _ names: NameCheck?
  ) throws -> Bool {
    // Most of the waiting for the disk, while others can still write.
    guard try mover.syncLog() else { return true }
    writers?.pause(true)
    defer { writers?.pause(false) }
    return try holder.transaction(.immediate) { holder in
      // Both are open on one file, and it is the one that the path leads to.
      try holder.refuseMovedFile()
      try mover.refuseMovedFile()
      try names?.check()
      return try mover.first("PRAGMA wal_checkpoint(PASSIVE)") {
        $0.integer(0) == 0 && $0.integer(1) == $0.integer(2)
      } ?? false
    }
  }

  /// Moves everything from the log into the file.
  package static func emptyLog(
    _ location: Location, waiting limit: Duration, _ names: NameCheck? = nil
  ) throws(KeepsakeError) {
    guard try run(location, waiting: limit, names) else {
      throw KeepsakeError(
        .locked, path: location.path, "another program keeps the file locked", cure: "try again")
    }
  }
}

/// The SQLite that this process uses.
package enum SQLiteVersion {
  package static let text = String(cString: sqlite3_libversion())

  /// Whether its checkpoints may lose commits, but for those that we make ourselves
  /// (`Checkpoint.swift`). https://www.sqlite.org/wal.html#walresetbug
  package static let hasResetBug = hasResetBug(sqlite3_libversion_number())

  /// - Parameter number: as 3051003 for 3.51.3.
  package static func hasResetBug(_ number: Int32) -> Bool {
    switch number {
    case ..<3_007_000, 3_051_003...: false
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: true
    }
  }
}
