// SPDX-License-Identifier: Apache-2.0

import CSQLite
import KeepsakeValues
import Synchronization

/// A connection that reads a file while the first one is in use. It is made when it is needed.
final class SecondConnection: Sendable {
  private let location: Location
  private let patience: Duration
  private let names: NameCheck?
  private let turnstile = Turnstile()
  private let database = Mutex<Database?>(nil)

  /// - Parameter patience: how long it waits for other connections.
  init(_ location: Location, _ patience: Duration, _ names: NameCheck?) {
    (self.location, self.patience, self.names) = (location, patience, names)
  }

  /// Whether this thread is using it.
  var isMine: Bool { turnstile.isMine }

  /// Whether this thread is reading a snapshot with it.
  var isInTransaction: Bool {
    isMine && database.withLock { $0.map { sqlite3_get_autocommit($0.handle) == 0 } ?? false }
  }

  /// - Returns: nil when there is no second connection to it, because the path leads elsewhere by
  ///   now, or because the system gives no more.
  func use<Value>(
    _ body: (Database) throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value? {
    let isOutermost = turnstile.enter(waiting: nil) ?? false
    defer { if isOutermost { turnstile.leave() } }
    guard let database = connection() else { return nil }
    return try body(database)
  }

  private func connection() -> Database? {
    database.withLock { database in
      if let database { return database }
      // To open another file that was given the name would be to open our log with it; to open
      // another log, to use our index with it.
      guard names?.areRight != false,
        // Whoever cannot have a connection waits for the first one, which says what is wrong.
        case .success(let new) = Result(catching: {
          try Connector.connect(location, .queryOnly, BusyHandler(patience))
        })
      else { return nil }
      // It may have been given the name meanwhile.
      guard names?.areRight != false else {
        new.close()
        return nil
      }
      database = new
      return new
    }
  }

  func close() {
    database.withLock { $0 }?.close()
  }
}

extension Storage {
  /// Whether this thread uses the connection of any storage.
  package static var isAnyMine: Bool { Turnstile.isAnyMine }

  /// Whether this thread reads a snapshot while another thread uses the first connection.
  package var isReadingAside: Bool { reader?.isInTransaction ?? false }

  /// Reads what was committed last, within a transaction of this thread that may have changed it.
  ///
  /// - Returns: nil when no connection can be had for it.
  @discardableResult
  package func readCommitted<Value>(
    _ body: (Connection) throws -> Value
  ) throws -> Value? {
    // Its own: a thread that has the other one may be waiting for this transaction.
    let connection = SecondConnection(location, busyHandler.usual, names)
    defer { connection.close() }
    return try connection.use { (database) throws(KeepsakeError) in
      do {
        return try body(database.connection(location))
      } catch {
        throw KeepsakeError(error, path: location.path)
      }
    }
  }
}
