// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import Synchronization

/// How long, and in which steps, a connection waits for another one's lock.
///
/// SQLite's own handler sleeps longer each time, up to 100 ms: beside a process that writes without
/// a pause it wakes up so rarely that it seldom meets a moment between two transactions. Short
/// steps of nearly equal length give everybody a turn.
final class Patience: Sendable {
  private let usual: Duration
  private struct State {
    var limit: Duration
    var start = ContinuousClock.now
  }
  private let state: Mutex<State>

  init(_ limit: Duration) {
    usual = limit
    state = Mutex(State(limit: limit))
  }

  /// For the next transaction.
  ///
  /// - Parameter limit: at most so long; nil for no other limit than the usual.
  func limit(to limit: Duration?) {
    state.withLock { $0.limit = min(usual, limit ?? usual) }
  }

  /// Waits a moment.
  ///
  /// - Parameter attempt: counts from 0.
  /// - Returns: whether to try again.
  func wait(attempt: Int) -> Bool {
    let isOver = state.withLock { state in
      if attempt == 0 { state.start = .now }
      return state.start.duration(to: .now) >= state.limit
    }
    guard !isOver else { return false }
    usleep(UInt32(min(20 + attempt * 10, 1_000)))
    return true
  }
}
