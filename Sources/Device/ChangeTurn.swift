// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Lets one thread at a time change a value of a file where it is, from its reading to its writing.
///
/// It only saves changes that would come to nothing: each is written only if what it was made of is
/// still there. So a thread that has the turn takes no second one, one that has waited as long as a
/// setter may goes on without, and the turn may end on another thread.
///
/// Observers of what its thread writes run when the turn is over: they may wait for a thread that
/// takes one.
package final class ChangeTurn: Sendable {
  private let free = DispatchSemaphore(value: 1)
  /// The thread whose turn it is; 0 for none.
  private let owner = Atomic<UInt>(0)

  /// Whether this thread has the turn.
  var isOurs: Bool { owner.load(ordering: .relaxed) == currentThread }

  /// - Parameters:
  ///   - isAlone: whether no other connection can write, so that no turn is needed.
  ///   - limit: how long to wait for it.
  /// - Returns: what is to be ended; nil without a turn.
  package func begin(unless isAlone: Bool, waiting limit: Duration) -> ChangeTurn? {
    guard !isAlone, !isOurs,
      free.wait(timeout: .now() + limit.seconds) == .success
    else { return nil }
    owner.store(currentThread, ordering: .relaxed)
    return self
  }

  /// Makes the write that the turn was for, and ends the turn.
  package func end(_ write: () -> Void) {
    owner.store(currentThread, ordering: .relaxed)
    write()
    owner.store(0, ordering: .relaxed)
    free.signal()
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
