// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Closures that are called for each event of one kind.
package final class Handlers<Event: Sendable>: Sendable {
  package typealias Handler = @Sendable (Event) -> Void

  private let handlers = Mutex<[Int: Handler]>([:])
  private let nextID = Atomic(0)
  private let count = Atomic(0)

  /// Whether there is none. One atomic load.
  package var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  package init() {}

  /// The handlers that are there now.
  package var all: [Handler] { handlers.withLock { Array($0.values) } }

  /// Calls the handlers on this thread, without a lock.
  package func notify(_ event: Event) {
    for handler in all { handler(event) }
  }

  /// Adds a handler until the result is released. O(1).
  package func add(_ handler: @escaping Handler) -> ObservationToken {
    let id = nextID.add(1, ordering: .relaxed).newValue
    handlers.withLock { $0[id] = handler }
    count.add(1, ordering: .relaxed)
    return ObservationToken { [self] in
      // The handler may retain objects whose release takes a lock.
      let handler = handlers.withLock { $0.removeValue(forKey: id) }
      count.subtract(1, ordering: .relaxed)
      withExtendedLifetime(handler) {}
    }
  }
}

extension Handlers<KeepsakeError> {
  /// Reports that committed writes are lost. It prints the error if no store handles it, since a
  /// file is often closed after its stores are gone.
  func reportLoss(_ error: KeepsakeError) {
    guard isEmpty else { return notify(error) }
    let line = Data("keepsake: \(error)\n".utf8)
    Result { try FileHandle.standardError.write(contentsOf: line) }.discardFailure()
  }
}
