// SPDX-License-Identifier: Apache-2.0
//
// From a path to a connection that may be trusted.

import CKeepsake
import CSQLite
import Foundation
package import KeepsakeMigrations
package import KeepsakeValues

/// A connection to a file that was checked.
package struct Opened {
  let database: Database
  package let location: Location
  package let mode: Location.Mode
  let busyHandler: BusyHandler
  /// Of a file that is opened as immutable.
  var immutableFile: ImmutableFile?
  /// Nil where SQLite shows no commits of others.
  var index: WalIndex?
  /// Nil in memory, and where nothing is written.
  var names: NameCheck?
}

package enum Opening {
  /// Opens an existing file after checking it.
  package static func open(
    _ location: Location, readOnly: Bool, busyTimeout: Duration, hooks: OpeningHooks
  ) throws(KeepsakeError) -> Opened {
    let busyHandler = BusyHandler(busyTimeout)
    // Where nothing can be locked others may make or remove the log while we look.
    var attempt = 0
    while true {
      do throws(KeepsakeError) {
        return try attemptToOpen(location, readOnly, busyHandler, hooks)
      } catch {
        guard readOnly, error.mayPass, attempt < 100, busyHandler.wait(attempt: attempt) else {
          throw error
        }
      }
      attempt += 1
    }
  }

  private static func attemptToOpen(
    _ location: Location, _ readOnly: Bool, _ busyHandler: BusyHandler, _ hooks: OpeningHooks
  ) throws(KeepsakeError) -> Opened {
    do {
      let mode = try mode(location, readOnly)
      let database = try LogCheck.passing(location, busyHandler, hooks.migrations) {
        try Connector.connect(location, mode, busyHandler)
      }
      let connection = database.connection(location)
      // The log may have lost its name: closing must not move it over what others wrote since.
      var isOpened = false
      defer { if !isOpened { connection.keepFullLog() } }
      let immutableFile = mode == .immutable ? try ImmutableFile(connection, location) : nil
      let (isMigrated, last) = try ImmutableFile.checking(immutableFile) {
        try connection.explaining {
          try connection.transaction(.deferred) { connection in
            let found = try Schema.check(connection, path: location.path, for: hooks.migrations)
            try refuseCutOff(connection, location)
            return found
          }
        }
      }
      try connection.refuseMovedFile()
      if mode == .readWrite {
        try connection.explaining {
          // No migration is undone.
          if !isMigrated {
            try Schema.migrate(
              connection, by: hooks.migrations, willMigrate: hooks.beforeMigrating)
          }
          try prepareForWriting(connection, location)
        }
        try Schema.refuseExhausted(last, location.path)
      }
      // A file without a log has no index, and must not get one. One that is written has a log.
      let isLogged = try mode == .readWrite || mode != .immutable && connection.isLogged
      let page = isLogged ? WalIndex.page(connection) : nil
      let index = page.flatMap { WalIndex($0, mapAgain: hooks.mapAgain) }
      let isInUse = mode == .readWrite || mode == .queryOnly
      let names = isInUse ? try NameCheck(location, page == nil ? [] : ["-wal", "-shm"]) : nil
      isOpened = true
      return Opened(
        database: database, location: location, mode: mode, busyHandler: busyHandler,
        immutableFile: immutableFile, index: index, names: names)
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }

  /// Throws when the file's end is missing: SQLite takes the rest of a last page for zeros.
  private static func refuseCutOff(_ connection: Connection, _ location: Location) throws {
    guard case .file(let path, let real) = location else { return }
    let size = try connection.databaseSize()
    // In this order: pages that are only in the log were moved to the file before the log is empty.
    let log = try FileStatus(of: real + "-wal")
    guard (log?.size ?? 0) == 0, let file = try FileStatus(of: real), file.size < size
    else { return }
    throw Schema.damaged(path, "the file is damaged (its end is missing)")
  }

  private static func prepareForWriting(_ connection: Connection, _ location: Location) throws {
    if case .file = location {
      // A copy made by VACUUM INTO or by the shell's .backup has lost the mode.
      let journal = try connection.first("PRAGMA journal_mode = WAL") { $0.text(0) }
      guard journal == "wal" else {
        throw KeepsakeError(
          .inputOutput, path: location.path, "the file cannot have a write-ahead log",
          cure: "move it to a local disk")
      }
    }
    // A damaged header can forbid what the system permits.
    guard sqlite3_db_readonly(connection.handle, "main") == 0 else {
      throw Schema.damaged(location.path, "its header is not one of ours")
    }
  }

  private static func mode(
    _ location: Location, _ readOnly: Bool
  ) throws(KeepsakeError) -> Location.Mode {
    guard case .file(let path, let real) = location else { return .readWrite }
    guard let status = try FileStatus(of: path) else { throw KeepsakeError.missing(path) }
    try refuseOtherKinds(status, path)
    guard FileStatus.isReadable(path) else {
      throw KeepsakeError(system: EACCES, path: path)  // as open(2) would say
    }
    // A link may lead elsewhere; the log is beside the file itself.
    let folder = FileStatus.folder(of: real)
    let canWrite = FileStatus.isWritable(path) && FileStatus.isWritable(folder)
    guard readOnly else {
      guard canWrite else {
        throw KeepsakeError(
          .permissionDenied, path: path, "the file or its folder is read-only",
          cure: "make both writable: SQLite keeps its log beside the file")
      }
      return .readWrite
    }
    return try readOnlyMode(path, real, canWrite: canWrite)
  }

  /// Reading needs the shared-memory file too. In a folder where it cannot be made, a file without
  /// a log can be opened as immutable.
  private static func readOnlyMode(
    _ path: String, _ real: String, canWrite: Bool
  ) throws(KeepsakeError) -> Location.Mode {
    if canWrite { return .queryOnly }
    let log = try FileStatus(of: real + "-wal")
    if try FileStatus(of: real + "-shm") != nil { return .readOnly }
    guard (log?.size ?? 0) == 0 else {
      throw KeepsakeError(
        .permissionDenied, path: path, "its folder is read-only and holds an unfinished -wal log",
        cure: "copy the file and its -wal to a folder of yours and read them there")
    }
    return .immutable
  }

  private static func refuseOtherKinds(
    _ status: FileStatus, _ path: String
  ) throws(KeepsakeError) {
    let problem: String? =
      switch status.kind {
      case .folder: "this is a folder"
      case .other: "this is not a regular file"
      case .regular: status.size == 0 ? "the file is empty" : nil
      }
    if let problem {
      throw KeepsakeError(
        .notKeepsake, path: path, problem, cure: "name a file that kvsync or an app made")
    }
  }
}

extension Opening {
  /// A new database in memory. Its name is unique, so nothing else can have it open.
  package static func memory(identity: ReplicaID) throws(KeepsakeError) -> Opened {
    let location = Location.memory(name: "keepsake-\(ReplicaID.random())")
    do {
      let busyHandler = BusyHandler(BusyHandler.usualLimit)
      let database = try Connector.connect(location, .readWrite, busyHandler)
      try Creation.populate(database, identity: identity, path: location.path)
      return Opened(
        database: database, location: location, mode: .readWrite, busyHandler: busyHandler)
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }
}

/// Closures for tests, called where another process may change the file.
package struct OpeningHooks: Sendable {
  /// Between the look at a path and the opening of what is there.
  package var beforeOpening: @Sendable () -> Void
  /// Between the check of a file that lacks migrations and the transaction that applies them.
  package var beforeMigrating: @Sendable () -> Void
  /// Maps a page of SQLite's a second time.
  package var mapAgain: @Sendable (UnsafeMutableRawPointer) -> UnsafeRawPointer? = {
    keepsake_map_again($0)
  }
  /// Every migration that this version knows.
  package var migrations: [Migration]

  package init(
    beforeOpening: @escaping @Sendable () -> Void = {},
    beforeMigrating: @escaping @Sendable () -> Void = {},
    migrations: [Migration] = Migrations.all
  ) {
    self.beforeOpening = beforeOpening
    self.beforeMigrating = beforeMigrating
    self.migrations = migrations
  }
}
