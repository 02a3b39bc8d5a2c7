// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeStorage
import Synchronization

/// Lets one thread at a time change a value of a file where it is, from its reading to its writing.
///
/// It only saves changes that would come to nothing: each is written only if what it was made of is
/// still there. So a change within another one, and one that has waited as long as a setter may, go
/// on without a turn. A change may be suspended, as `await edit(&settings.names)` is, and end on
/// any thread.
///
/// Observers of what a change writes run when its turn is over: they may wait for a thread that
/// takes one.
package final class InPlaceChangeLock: Sendable {
  private let free = DispatchSemaphore(value: 1)
  /// The thread that has taken the turn; 0 for none.
  private let owner = Atomic<UInt>(0)
  /// The thread that writes what its turn was for; 0 for none.
  private let writer = Atomic<UInt>(0)

  /// Whether this thread writes what its turn was for.
  var isWriting: Bool { writer.load(ordering: .relaxed) == currentThread }

  /// - Parameter isAlone: whether no other connection can write, so that no turn is needed.
  /// - Returns: whether there is a turn, which `end` has to end.
  package func begin(unless isAlone: Bool, waiting limit: Duration) -> Bool {
    guard !isAlone, owner.load(ordering: .relaxed) != currentThread,
      free.wait(timeout: .now() + limit / .seconds(1)) == .success
    else { return false }
    owner.store(currentThread, ordering: .relaxed)
    return true
  }

  /// Makes the write that the turn was for, and ends the turn.
  package func end(_ write: () -> Void) {
    writer.store(currentThread, ordering: .relaxed)
    write()
    writer.store(0, ordering: .relaxed)
    owner.store(0, ordering: .relaxed)
    free.signal()
  }
}
