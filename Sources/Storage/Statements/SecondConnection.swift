// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// A connection that reads a file while the first one is in use. It is made when it is needed.
final class SecondConnection: Sendable {
  private let lock = RecursiveLock()
  private let database = Mutex<Database?>(nil)

  /// Whether this thread is using it.
  var isMine: Bool { lock.isMine }

  /// Whether this thread is reading a snapshot with it.
  var isInTransaction: Bool {
    isMine && database.withLock { $0?.connection("").isInTransaction ?? false }
  }

  /// - Parameter make: makes the connection.
  /// - Returns: nil when there is none.
  func use<Value>(
    _ make: () -> Database?, _ body: (Database) throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value? {
    let isOutermost = lock.enter(waiting: nil) ?? false
    defer { if isOutermost { lock.leave() } }
    let database = database.withLock { database in
      database = database ?? make()
      return database
    }
    return if let database { try body(database) } else { nil }
  }

  func close() { database.withLock { $0 }?.close() }
}

extension Storage {
  /// Whether this thread uses the connection of any storage.
  package static var isAnyMine: Bool { RecursiveLock.isAnyMine }

  /// Whether this thread reads a snapshot while another thread uses the first connection.
  package var isReadingAside: Bool { reader?.isInTransaction ?? false }

  /// Another connection to the file.
  ///
  /// - Returns: nil when the path leads elsewhere by now, or the system gives no more of them; then
  ///   the first one says why.
  func connectAgain() -> Database? {
    // A connection to another file that was given the name would use our log with it, and one to
    // another log our index.
    guard names?.areRight != false,
      case .success(let database) = Result(catching: {
        try Connector.connect(location, .queryOnly, BusyHandler(busyHandler.usual))
      })
    else { return nil }
    // It may have been given the name meanwhile.
    guard names?.areRight != false else {
      database.close()
      return nil
    }
    return database
  }

  /// A snapshot of the last commit, without what a transaction of this thread has written since.
  ///
  /// - Returns: nil when there is no connection for it.
  package func snapshot() -> Snapshot? {
    // Its own connection: a thread that has the second one may be waiting for this transaction.
    guard reader != nil, let database = connectAgain() else { return nil }
    let connection = database.connection(location)
    guard case .success = Result(catching: { try connection.beginReading() }) else {
      database.close()
      return nil
    }
    return Snapshot(database, location)
  }
}

/// A committed state of a file. While it exists, the log cannot be emptied.
// One thread at a time uses it.
package final class Snapshot: Sendable {
  private let database: Database
  private let location: Location
  package var path: String { location.path }

  fileprivate init(_ database: Database, _ location: Location) {
    (self.database, self.location) = (database, location)
  }

  deinit { database.close() }

  /// - Throws: what `body` throws, and if an error has ended the snapshot before.
  package func read(_ body: (Connection) throws -> Void) throws {
    let connection = database.connection(location)
    guard connection.isInTransaction else {
      throw KeepsakeError(
        .inputOutput, path: path, "a reading that failed cannot be continued",
        cure: "read anew")
    }
    try connection.explaining { try body(connection) }
  }
}

extension Connection {
  /// Begins a transaction that reads the present state.
  fileprivate func beginReading() throws {
    try run("BEGIN")
    // `BEGIN` alone chooses no state.
    try run("SELECT 1 FROM sqlite_schema LIMIT 1")
  }
}
