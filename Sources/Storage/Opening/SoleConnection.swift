// SPDX-License-Identifier: Apache-2.0
//
// A file that one connection has for itself (`locking_mode = EXCLUSIVE`, set before the first
// reading): it holds SQLite's exclusive lock from then to its end, keeps the log's index in its own
// memory, and makes no `-shm`. So no other connection of any process commits while this one moves
// the log into the file, and SQLite's defect that `Checkpoint.swift` describes cannot occur.
// https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory

import CSQLite
import Foundation

/// A connection that no other one of any process shares the file with.
// Sendable: one thread at a time uses it. The opening thread gives it to the thread that uses it
// from then on, and keeps no reference.
package final class SoleConnection: @unchecked Sendable {
  private let location: Location
  private let database: Database
  /// Pages in the log after the last commit.
  private var logged: Int32 = 0
  private let file: FileID?
  private var isOpen = true
  private var names: NameCheck?

  /// - Parameters:
  ///   - path: of a database that is there, or of an empty file.
  ///   - busyTimeout: how long to wait for others to close it.
  package init(path: String, busyTimeout: Duration) throws(KeepsakeError) {
    location = .file(path)
    try Self.refuseOpen(path)
    do {
      file = try FileID(of: path)
      database = try Connector.connect(
        location, .readWrite, BusyHandler(busyTimeout), isSole: true)
    } catch {
      throw KeepsakeError(error, path: path)
    }
    // A new file gets its log later.
    if FileStatus.exists(location.realPath + "-wal") { names = try NameCheck(location, ["-wal"]) }
    if let file { OpenFiles.add(file) }
    sqlite3_wal_hook(
      database.handle,
      { context, _, _, count in
        guard let context else { return SQLITE_OK }
        Unmanaged<SoleConnection>.fromOpaque(context).takeUnretainedValue().logged = count
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { close() }

  /// - Throws: SQLite's errors in our words, and the others of `body` as they are.
  package func access<Value>(_ body: (Connection) throws -> Value) throws -> Value {
    let connection = database.connection(location)
    return try connection.explaining { try body(connection) }
  }

  /// Moves the log into the file, between two transactions.
  ///
  /// - Parameter pages: from which length on.
  /// - Throws: `KeepsakeError`; then everything is still in the log, and it is tried again when
  ///   that has grown.
  package func checkpoint(from pages: Int32) throws {
    guard logged >= pages else { return }
    logged = 0
    try access { connection in
      let isBusy = try connection.first("PRAGMA wal_checkpoint(PASSIVE)") { $0.integer(0) != 0 }
      guard isBusy == false else { throw ExclusiveLock.busy(location.path) }
    }
  }

  /// Throws if the file or its log has lost its name: before a commit.
  package func checkNames() throws(KeepsakeError) {
    // The log is there once the file is in write-ahead-log mode.
    if names == nil { names = try NameCheck(location, ["-wal"]) }
    try names?.check()
  }

  /// Moves the log into the file if it is about to be lost, because it has no name any more.
  package func saveLostLog() throws(KeepsakeError) {
    guard names?.areRight == false, names?.isKnownToHaveLostLog == true else { return }
    logged = max(1, logged)
    do {
      try checkpoint(from: 1)
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
  }

  /// Whether a transaction is open; SQLite ends one itself when the disk is full or broken.
  package var isInTransaction: Bool { database.connection(location).isInTransaction }

  /// Ends it; what fails fails in moving the log, which then stays beside the file.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    let connection = database.connection(location)
    sqlite3_wal_hook(connection.handle, nil, nil)
    // Remove it before the file is closed: if it was deleted, another file may get its number at
    // once. A thread that opens this file meanwhile waits for SQLite's lock.
    if let file { OpenFiles.remove(file) }
    database.close()
  }

  /// Throws when this process has the file open.
  package static func refuseOpen(_ path: String) throws(KeepsakeError) {
    guard let file = try FileID(of: path), OpenFiles.has(file) else { return }
    throw ExclusiveLock.busy(path)
  }

  /// Reads a file as it is without its log. Releases every lock of this process on it.
  package static func read<Value>(
    withoutLog path: String, _ body: (Connection) throws -> Value
  ) throws -> Value {
    let location = Location.file(path)
    let database = try Connector.connect(location, .immutable, BusyHandler(.zero))
    defer { database.close() }
    let connection = database.connection(location)
    return try connection.explaining { try body(connection) }
  }
}
