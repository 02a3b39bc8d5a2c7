// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import Synchronization

/// How long, and in which steps, a connection waits for another one's lock.
///
/// SQLite's own handler sleeps longer each time, up to 100 ms: beside a process that writes without
/// a pause it rarely wakes up between two transactions. Short steps of nearly equal length give
/// every process its turn.
package final class BusyHandler: Sendable {
  /// How long to wait by default.
  package static let usualLimit: Duration = .seconds(5)

  package let usual: Duration
  private struct State {
    var limit: Duration
    var start = ContinuousClock.now
    var isPaused = false
  }
  private let state: Mutex<State>

  package init(_ limit: Duration) {
    usual = limit
    state = Mutex(State(limit: limit))
  }

  /// How long the next wait may be.
  package var limit: Duration { state.withLock { $0.limit } }

  /// Limits the wait of the next transaction.
  ///
  /// - Parameter limit: the longest wait; nil for the usual limit.
  package func limit(to limit: Duration?) {
    state.withLock { $0.limit = min(usual, limit ?? usual) }
  }

  /// - Parameter isPaused: whether this process itself has the lock, for no longer than it needs: a
  ///   wait for that has no limit.
  package func pause(_ isPaused: Bool) {
    state.withLock { state in
      state.isPaused = isPaused
      // Waiters that tried just before the release get a moment more.
      state.start = .now + .milliseconds(10)
    }
  }

  /// Waits a moment.
  ///
  /// - Parameter attempt: counts from 0.
  /// - Returns: whether to try again.
  package func wait(attempt: Int) -> Bool {
    let isOver = state.withLock { state in
      if attempt == 0 { state.start = max(state.start, .now) }
      return !state.isPaused && state.start.duration(to: .now) >= state.limit
    }
    guard !isOver else { return false }
    usleep(UInt32(min(20 + attempt * 10, 1_000)))
    return true
  }
}
