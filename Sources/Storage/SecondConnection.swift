// SPDX-License-Identifier: Apache-2.0

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
