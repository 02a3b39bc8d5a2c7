// SPDX-License-Identifier: Apache-2.0
//
// Threading: one access at a time uses the connection. An access from within an access, as when a
// setting is read while another is updated, joins it: it uses the same connection, and its writes
// are part of the outer transaction. A reader does not wait for an access of another thread: it
// uses a second connection.

import Foundation
import KeepsakeValues
import Synchronization

/// An open database of a device, in a file or in memory.
package final class Storage: Sendable {
  package let location: Location
  package let mode: Location.Mode
  /// Equal for two iff they have one file; nil in memory.
  package let file: FileID?
  package let versions: ReadVersions
  let database: Database
  let lock = RecursiveLock()
  let reader: SecondConnection?
  package let busyHandler: BusyHandler
  /// Nil if this storage cannot write, or has no log.
  package let checkpoints: Checkpoints?
  package let immutableFile: ImmutableFile?
  package let names: NameCheck?
  /// Nil until the first lease.
  let leaseFile = Mutex<LockedFile?>(nil)
  /// Whether what a removed log holds was saved, or is being saved.
  let savesLostLog = Atomic(false)
  /// The error that names the file with what a removed log held.
  let savedLostLog = Mutex<KeepsakeError?>(nil)
  private let reportLoss: @Sendable (KeepsakeError) -> Void
  /// Deleted after the connection is closed.
  private let folder: TemporaryFolder?

  package var isReadOnly: Bool { mode != .readWrite }

  /// - Parameters:
  ///   - layers: counts the changes of what is read besides the file.
  ///   - report: gets the failures of upkeep that no caller waits for.
  ///   - reportLoss: gets where closing has saved what only a removed log held, or why it is lost.
  package init(
    _ opened: Opened, file: FileID?, layers: LayerVersion, folder: TemporaryFolder? = nil,
    report: @escaping @Sendable (KeepsakeError) -> Void = { _ in },
    reportLoss: @escaping @Sendable (KeepsakeError) -> Void = { _ in }
  ) {
    (self.reportLoss, names) = (reportLoss, opened.names)
    (location, mode, self.file, self.folder) = (opened.location, opened.mode, file, folder)
    (busyHandler, immutableFile) = (opened.busyHandler, opened.immutableFile)
    database = opened.database
    versions = ReadVersions(
      opened.index, layers: layers, isPrivate: file == nil || opened.mode == .immutable)
    reader = file != nil && [.readWrite, .queryOnly].contains(mode) ? SecondConnection() : nil
    checkpoints =
      file == nil || opened.mode != .readWrite
      ? nil : Checkpoints(location, busyHandler, names, report)
    if let file { OpenFiles.add(file, names) }
    checkpoints?.follow(database.connection(location))
  }

  deinit {
    checkpoints?.stop()
    reader?.close()
    // An empty file that is left does no harm.
    Result { () throws(KeepsakeError) in
      try leaseFile.withLock { file throws(KeepsakeError) in try file?.removeIfFree() }
    }.discardFailure()
    guard let file else { return database.close() }
    if let failure = close(file) { reportLoss(failure) }
  }

  /// Closes the connection. The last one of any process moves the log into the file and removes it.
  ///
  /// - Returns: where what only a removed log holds is saved, or why it is lost.
  private func close(_ file: FileID) -> KeepsakeError? {
    var failure: KeepsakeError?
    // A log that has lost its name must not be moved into the file: it would overwrite what others
    // wrote since.
    if names?.areRight == false {
      database.connection(location).keepLog(true)
      do throws(KeepsakeError) { failure = try saveLostLog() } catch { failure = error }
    }
    // If moving the log fails, the log stays, and the next open moves it.
    OpenFiles.close(file, names) { database.close() }
    return failure
  }

  /// Whether this thread is in an access.
  package var isMine: Bool { lock.isMine }

  /// The error if the timeout ends before this thread can use the connection.
  package var isTaken: KeepsakeError {
    KeepsakeError(
      .locked, path: location.path, "another thread of this process keeps the file locked",
      cure: "try again")
  }

  /// Uses the connection outside of a transaction, if there is none to join: each statement sees
  /// its own snapshot.
  ///
  /// - Parameter limit: how long to wait for other threads; nil for as long as it takes.
  package func access<Value>(
    waiting limit: Duration? = nil, _ body: (Connection) throws -> Value
  ) throws(KeepsakeError) -> Value {
    guard let value = try accessInTime(waiting: limit, body) else { throw isTaken }
    return value
  }

  /// As `access`.
  ///
  /// - Returns: nil when the time was over before this thread could use the connection.
  package func accessInTime<Value>(
    waiting limit: Duration?, _ body: (Connection) throws -> Value
  ) throws(KeepsakeError) -> Value? {
    guard let isOutermost = lock.enter(waiting: limit) else { return nil }
    defer { if isOutermost { lock.leave() } }
    return try use(database, body)
  }

  /// As `access`, for what only reads: on the second connection if another thread is using the
  /// first one.
  package func look<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    guard let reader, !lock.isMine else { return try access(body) }
    guard reader.isMine || !lock.tryToEnter() else {
      defer { lock.leave() }
      return try use(database, body)
    }
    let value = try reader.use(connectAgain) { (reader) throws(KeepsakeError) in
      try use(reader, body)
    }
    if let value { return value }
    return try access(body)
  }

  private func use<Value>(
    _ database: Database, _ body: (Connection) throws -> Value
  ) throws(KeepsakeError) -> Value {
    do {
      let connection = database.connection(location)
      return try ImmutableFile.checking(immutableFile) {
        try connection.explaining { try body(connection) }
      }
    } catch {
      let failure = KeepsakeError(error, path: location.path)
      // Other errors have causes of their own.
      if names?.isKnownToHaveLostLog == true, !versions.isInOurTransaction,
        let saved = try saveLostLog(), failure.code == .inputOutput
      {
        throw saved
      }
      throw failure
    }
  }
}
