// SPDX-License-Identifier: Apache-2.0
//
// A file that is opened as immutable (`immutable=1`), because its folder lets us make no shared
// memory: SQLite then takes no locks, and a process that may write there, as through another mount,
// could change pages while we read them. So:
// - We hold SQLite's shared lock on the file as long as the connection is open. No process can take
//   the exclusive one meanwhile, which writing without a log needs, and removing the log.
// - Before the first reading there is no log, or an empty one. Everything that is written from then
//   on goes through the log first, so if it is as it was after a reading, nothing was written.

import CSQLite
import Foundation
import KeepsakeValues

/// Whether a file is still as it was when it was opened.
package final class ImmutableFile: Sendable {
  private let location: Location
  private let log: FileStatus?

  /// - Parameter connection: has read nothing yet.
  /// - Throws: `KeepsakeError` with code `locked` when another process writes to the file.
  init(_ connection: Connection, _ location: Location) throws {
    self.location = location
    let file = try connection.databaseFile()
    guard let lock = file.pointee.pMethods.pointee.xLock else { throw Self.isChanging(location) }
    // Released when SQLite closes the file.
    switch lock(file, SQLITE_LOCK_SHARED) {
    case SQLITE_OK: break
    case SQLITE_BUSY: throw Self.isChanging(location)
    case let code:
      throw KeepsakeError(
        .inputOutput, path: location.path, "the file cannot be locked (SQLite's code \(code))",
        cure: "copy it to a folder of yours and read it there")
    }
    log = try FileStatus(of: location.realPath + "-wal")
    guard (log?.size ?? 0) == 0 else { throw Self.isChanging(location) }
  }

  /// Reads, and throws away what was read where the file has changed meanwhile.
  static func checking<Value>(_ file: ImmutableFile?, _ body: () throws -> Value) throws -> Value {
    guard let file else { return try body() }
    let result = Result { try body() }
    try file.check()
    return try result.get()
  }

  /// Throws when something may have been written since this file was opened.
  package func check() throws(KeepsakeError) {
    let now = try FileStatus(of: location.realPath + "-wal")
    guard now == log else { throw Self.isChanging(location) }
  }

  private static func isChanging(_ location: Location) -> KeepsakeError {
    KeepsakeError(
      .locked, path: location.path,
      "another program began to write it, and its folder is read-only here",
      cure: "try again")
  }
}

extension KeepsakeError {
  /// Whether this can come from a log or a shared memory that others make or remove right now.
  var mayPass: Bool { code == .locked || code == .permissionDenied || code == .inputOutput }
}
