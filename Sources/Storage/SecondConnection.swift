// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// A connection that reads a file while the first one is in use. It is made when it is needed.
final class SecondConnection: Sendable {
  private let turnstile = Turnstile()
  private let database = Mutex<Database?>(nil)

  /// Whether this thread is using it.
  var isMine: Bool { turnstile.isMine }

  /// Whether this thread is reading a snapshot with it.
  var isInTransaction: Bool {
    isMine && database.withLock { $0?.connection("").isInTransaction ?? false }
  }

  /// - Parameter make: makes the connection.
  /// - Returns: nil when there is none.
  func use<Value>(
    _ make: () -> Database?, _ body: (Database) throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value? {
    let isOutermost = turnstile.enter(waiting: nil) ?? false
    defer { if isOutermost { turnstile.leave() } }
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
  package static var isAnyMine: Bool { Turnstile.isAnyMine }

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

  /// Reads what was committed last, within a transaction of this thread that may have changed it;
  /// reads nothing when there is no connection for it.
  package func readCommitted(_ body: (Connection) throws -> Void) throws {
    // Its own: a thread that has the second one may be waiting for this transaction.
    guard let database = connectAgain() else { return }
    defer { database.close() }
    let connection = database.connection(location)
    try connection.explaining { try body(connection) }
  }
}
