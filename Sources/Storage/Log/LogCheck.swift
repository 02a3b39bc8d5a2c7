// SPDX-License-Identifier: Apache-2.0
//
// Whether the log and the journal beside a database are its own. SQLite believes any log of the
// right name: applied to another file, as when a backup is copied over one that crashed, it
// destroys that file at the first reading, because closing moves it in
// (https://www.sqlite.org/howtocorrupt.html, section 1.4).
//
// Nothing in a log names its file. But a log is this file's only if both together are a whole
// device of the file's own identity, and not an earlier state of it. So before anything may write,
// both are read through a connection that cannot, and if they do not fit while the file alone is
// whole, the log is not its own. A crash or a power cut never looks so: SQLite's recovery makes a
// whole file of what they leave.
//
// Found are so a log of another device, one of the same device from before the file's last write,
// and one whose pages do not fit the indexes and tables of the file. Not found is a log of the same
// device from after the file's last write whose pages all fit:
// - It holds every page in which the two states differ. Then both together are that later state,
//   and nothing is lost.
// - It lacks pages of tables that no index binds to the others, as the log of conflicts and what is
//   known of peers: they stay as they were in the file.
// SQLite's change counter in page 1 does not tell more: few commits write that page, a checkpoint
// may have moved any of them before a crash, and other programs count it in their own way. A test
// of it would pass the same logs, or refuse one that is the file's own, which is worse.
//
// This reads every page, so it is done only for a log that no connection has open, which a crash
// has left: the process that has it open has done it. One process at a time does it, under flock(2)
// on the log; SQLite locks the file and its shared memory, never the log, so opening and closing
// that releases no lock of a connection in this process.

import CSQLite
import Foundation
import KeepsakeMigrations
import KeepsakeValues

enum LogCheck {
  /// A log's header; one without frames changes nothing.
  private static let headerSize = 32

  /// Opens a file by `connect` once its log may be read.
  ///
  /// - Throws: `KeepsakeError` with code `foreignLog`; then nothing was written.
  static func passing<Value>(
    _ location: Location, _ busyHandler: BusyHandler, _ migrations: [Migration],
    _ connect: () throws -> Value
  ) throws -> Value {
    guard case .file(_, let real) = location else { return try connect() }
    _ = try regularFile(location, real, "-shm")
    let journal = try regularFile(location, real, "-journal")
    if let journal, journal.size > 0, try isHot(real + "-journal") {
      throw foreign(location, "-journal", "is a rollback journal, which no file of ours has")
    }
    guard let log = try regularFile(location, real, "-wal"), log.size > headerSize,
      let lock = try LogLock(real + "-wal", location, busyHandler)
    else { return try connect() }
    defer { lock.release() }
    if try !isOpen(real) { try refuseForeignLog(location, busyHandler, migrations) }
    // Connect under the lock, so that the next process finds the log open.
    return try connect()
  }

  private static func foreign(
    _ location: Location, _ suffix: String, _ problem: String
  ) -> KeepsakeError {
    let given = location.path
    let file = (FileStatus.isSymbolicLink(given) ? location.realPath : given) + suffix
    return KeepsakeError(
      .foreignLog, path: given, "\(file) \(problem), so nothing was read or written",
      cure: "move \(file) away, or put a backup in place by kvsync restore")
  }

  /// The status of a file beside it; nil if there is none.
  private static func regularFile(
    _ location: Location, _ real: String, _ suffix: String
  ) throws -> FileStatus? {
    let status = try FileStatus(of: real + suffix)
    if let status, status.kind != .regular {
      throw foreign(location, suffix, "is not a regular file")
    }
    return status
  }

  /// Whether SQLite would apply this journal: it begins with a byte that is not 0.
  private static func isHot(_ path: String) throws -> Bool {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return false }
      throw KeepsakeError(system: errno, path: path)
    }
    defer { close(descriptor) }
    var first: UInt8 = 0
    return read(descriptor, &first, 1) == 1 && first != 0
  }

  /// Whether a connection of any process has the log open. Where the system does not tell, as
  /// outside of Linux or about another container, it is looked at once more than needed.
  private static func isOpen(_ real: String) throws -> Bool {
    guard let memory = try FileStatus(of: real + "-shm"),
      let locks = FileManager.default.contents(atPath: "/proc/locks")
    else { return false }
    // The shared lock of every connection on this byte (UNIX_SHM_DMS in SQLite's os_unix.c).
    return String(decoding: locks, as: UTF8.self).split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count == 8 && words[1] == "POSIX" && words[5] == memory.id.inLocks
        && words[6] == "128" && words[7] == "128"
    }
  }

  private static func refuseForeignLog(
    _ location: Location, _ busyHandler: BusyHandler, _ migrations: [Migration]
  ) throws {
    func state(_ mode: Location.Mode, checkedBy migrations: [Migration]?) throws -> State? {
      try State(location, mode, busyHandler, checkedBy: migrations)
    }
    // In this order: where another process writes that we cannot see, the file is the earlier one.
    let alone = try state(.immutable, checkedBy: nil)
    let both = try state(.readOnly, checkedBy: migrations)
    if both?.follows(alone) == true { return }
    guard try state(.immutable, checkedBy: migrations) != nil else { return }
    throw foreign(location, "-wal", "is not this file's log")
  }
}

/// What a connection that can write nothing sees of a device.
private struct State {
  private let replica: ReplicaState
  private let former: [Int64]

  /// - Parameter migrations: what this version knows, to check every page; nil for no check.
  /// - Returns: nil where it is damaged, or no device.
  init?(
    _ location: Location, _ mode: Location.Mode, _ busyHandler: BusyHandler,
    checkedBy migrations: [Migration]?
  ) throws {
    do {
      let database = try Connector.connect(location, mode, busyHandler)
      defer { database.close() }
      let connection = database.connection(location)
      let state = try connection.explaining {
        try connection.transaction(.deferred) { try State($0, checkedBy: migrations) }
      }
      guard let state else { return nil }
      self = state
    } catch {
      let error = KeepsakeError(error, path: location.path)
      guard error.code == .corrupt || error.code == .notKeepsake || error.isOfSchema else {
        throw error
      }
      return nil
    }
  }

  private init?(_ connection: Connection, checkedBy migrations: [Migration]?) throws {
    if let migrations {
      try Schema.check(connection, path: connection.path, for: migrations)
      guard try connection.integrityProblems(limit: 1).isEmpty else { return nil }
    }
    former = try connection.all("SELECT id FROM former_replica") { $0.integer(0) }
    replica = try ReplicaState(connection)
  }

  /// Whether a device can go from one state to this one: sequence numbers never fall.
  ///
  /// - Parameter earlier: nil where nothing is known of it.
  func follows(_ earlier: State?) -> Bool {
    guard let earlier else { return true }
    return replica.sequenceNumber >= earlier.replica.sequenceNumber
      && (replica.id == earlier.replica.id || former.contains(earlier.replica.id.rawValue))
  }
}

extension KeepsakeError {
  /// Whether a statement asks for a table that is not there.
  package var isOfSchema: Bool {
    (cause as? SQLiteError)?.primaryCode == SQLITE_ERROR
  }
}

/// An exclusive lock on a log, which the system releases with the process.
private struct LogLock {
  private let descriptor: Int32

  /// - Returns: nil where the log is gone, or cannot be read: SQLite will say why.
  init?(_ path: String, _ location: Location, _ busyHandler: BusyHandler) throws(KeepsakeError) {
    var attempt = 0
    while true {
      let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      switch try FileLock(descriptor, path) {
      case .taken:
        self.descriptor = descriptor
        return
      case .lost: continue
      case .busy: break
      }
      guard busyHandler.wait(attempt: attempt) else {
        throw KeepsakeError(
          .locked, path: location.path, "another program checks the log beside it",
          cure: "try again, or wait longer with a larger busy timeout")
      }
      attempt += 1
    }
  }

  func release() { close(descriptor) }
}
