// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeStorage
import Synchronization

/// Lets one thread at a time change a value of a file where it is, from its reading to its writing.
///
/// It only saves changes that would come to nothing: each is written only if what it was made of is
/// still there. So nothing depends on a turn:
/// - A change within another one takes no turn.
/// - A change that has waited as long as a setter may goes on without one.
/// - A turn lasts no longer than that: a change may be suspended, as `await edit(&settings.names)`
///   is, and then ends at any time, on any thread.
///
/// Observers of what a change writes run when its turn is over: they may wait for a thread that
/// takes one.
package final class ChangeTurn: Sendable {
  /// A turn that was taken.
  package struct Turn: Sendable {
    fileprivate let number: Int
  }

  private struct State: Sendable {
    /// The number of the last turn.
    var number = 0
    /// The thread that has taken it; 0 when it is over.
    var thread: UInt = 0
    /// When another thread may take the next one.
    var limit = DispatchTime(uptimeNanoseconds: 0)
    /// The thread that writes what the turn was for; 0 before.
    var writer: UInt = 0

    mutating func take(until limit: DispatchTime) -> Turn {
      self = State(number: number + 1, thread: currentThread, limit: limit)
      return Turn(number: number)
    }
  }

  private let state = Mutex(State())
  /// Signalled when a turn ends, and not when its time is over.
  private let free = DispatchSemaphore(value: 1)

  /// Whether this thread writes what its turn was for.
  var isWriting: Bool { state.withLock { $0.writer == currentThread } }

  /// - Parameters:
  ///   - isAlone: whether no other connection can write, so that no turn is needed.
  ///   - limit: how long to wait for it, and how long it lasts.
  /// - Returns: what is to be ended; nil without a turn.
  package func begin(unless isAlone: Bool, waiting limit: Duration) -> Turn? {
    guard !isAlone else { return nil }
    let limit = DispatchTime.now() + limit.seconds
    while true {
      let last = state.withLock { $0 }
      let isTaken = last.thread != 0
      guard last.thread != currentThread || last.limit <= .now() else { return nil }
      if free.wait(timeout: isTaken ? min(limit, last.limit) : limit) == .success {
        return state.withLock { $0.take(until: limit) }
      }
      let turn = state.withLock { state in
        state.thread != 0 && state.limit <= .now() ? state.take(until: limit) : nil
      }
      guard turn == nil, .now() < limit else { return turn }
    }
  }

  /// Makes the write that the turn was for, and ends the turn, unless another has taken it since.
  package func end(_ turn: Turn, _ write: () -> Void) {
    state.withLock { if $0.number == turn.number { $0.writer = currentThread } }
    write()
    let isOver = state.withLock { state in
      guard state.number == turn.number else { return false }
      (state.thread, state.writer) = (0, 0)
      return true
    }
    if isOver { free.signal() }
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
