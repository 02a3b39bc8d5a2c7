// SPDX-License-Identifier: Apache-2.0
//
// Threading: GRDB's queue lets one access at a time use the connection. An access from within an
// access, as when a setting is read while another is updated, joins it: it uses the same
// connection, and its writes are part of the outer transaction.

import GRDB
import KeepsakeValues

/// One SQLite file that is ours, or the like of it in memory, open for one use.
package final class Storage: Sendable {
  package let location: Location
  package let mode: Location.Mode
  /// Equal for two iff they have one file; nil in memory.
  package let file: FileID?
  package let versions: ReadVersions
  let queue: DatabaseQueue
  package let busyHandler: BusyHandler
  /// Nil where nothing is written, or no log is.
  package let checkpoints: Checkpoints?
  package let still: StillFile?
  /// Throws the name of a row that is too large.
  private let findTooLarge: @Sendable (Connection) throws -> Void
  /// Deleted when the connection has gone.
  private let folder: TemporaryFolder?
  package let origin = Origin()

  package var isReadOnly: Bool { mode != .readWrite }

  /// - Parameters:
  ///   - layers: counts the changes of what is read besides the file.
  ///   - findTooLarge: throws the name of a row that SQLite has refused as too large.
  ///   - report: gets the failures of upkeep that no caller waits for.
  package init(
    _ opened: Opened, file: FileID?, layers: LayerVersion, folder: TemporaryFolder? = nil,
    findTooLarge: @escaping @Sendable (Connection) throws -> Void = { _ in },
    report: @escaping @Sendable (KeepsakeError) -> Void = { _ in }
  ) {
    self.findTooLarge = findTooLarge
    (location, mode, self.file, self.folder) = (opened.location, opened.mode, file, folder)
    (queue, busyHandler, still) = (opened.queue, opened.busyHandler, opened.still)
    versions = ReadVersions(
      opened.index, layers: layers, isPrivate: file == nil || opened.mode == .immutable)
    checkpoints =
      file == nil || opened.mode != .readWrite ? nil : Checkpoints(location, busyHandler, report)
    if let file { OpenFiles.add(file) }
    if let checkpoints {
      queue.unsafeReentrantWrite { checkpoints.follow(Connection($0, location)) }
    }
  }

  deinit {
    guard origin.isThisProcess else { return keepOpenForever() }
    checkpoints?.stop()
    // Closing checkpoints and removes the log. What fails here fails for good reasons (a reader
    // elsewhere), and the next open does it.
    Result { try queue.close() }.discardFailure()
    if let file { OpenFiles.remove(file) }
  }

  /// Uses the connection outside of a transaction, if there is none to join: each statement sees
  /// its own snapshot.
  package func access<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    try origin.refuseChild(location.path)
    do {
      return try queue.unsafeReentrantWrite { database in
        let connection = Connection(database, location)
        return try StillFile.checking(still) {
          try connection.explaining {
            do {
              return try body(connection)
            } catch where KeepsakeError.isRowTooLarge(error) {
              try findTooLarge(connection)
              throw error
            }
          }
        }
      }
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }
}
