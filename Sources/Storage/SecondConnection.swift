// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// A connection that reads a file while the first one is in use. It is made when it is needed.
final class SecondConnection: Sendable {
  private let location: Location
  private let patience: Duration
  private let turnstile = Turnstile()
  private let database = Mutex<HeldDatabase?>(nil)

  /// - Parameter patience: how long it waits for other connections.
  init(_ location: Location, _ patience: Duration) {
    (self.location, self.patience) = (location, patience)
  }

  /// Whether this thread is using it.
  var isMine: Bool { turnstile.isMine }

  /// - Parameter file: the one that the first connection has open.
  /// - Returns: nil when there is no second connection to it, because the path leads elsewhere by
  ///   now, or because the system gives no more.
  func use<Value>(
    of file: FileID?, _ body: (HeldDatabase) throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value? {
    let isOutermost = turnstile.enter(waiting: nil) ?? false
    defer { if isOutermost { turnstile.leave() } }
    guard let database = connection(to: file) else { return nil }
    return try body(database)
  }

  private func connection(to file: FileID?) -> HeldDatabase? {
    database.withLock { database in
      if let database { return database }
      // To open another file that was given the name would be to open our log with it.
      guard leads(to: file),
        // Whoever cannot have a connection waits for the first one, which says what is wrong.
        case .success(let new) = Result(catching: {
          try Connector.connect(location, .queryOnly, BusyHandler(patience))
        })
      else { return nil }
      // It may have been given the name meanwhile.
      guard leads(to: file) else {
        Result { try new.close() }.discardFailure()
        return nil
      }
      let held = HeldDatabase(new)
      database = held
      return held
    }
  }

  private func leads(to file: FileID?) -> Bool {
    guard case .success(let found) = Result(catching: { try FileID(of: location.realPath) })
    else { return false }
    return found == file
  }

  func close() {
    let database = database.withLock { $0 }
    Result { try database?.close() }.discardFailure()
  }
}
