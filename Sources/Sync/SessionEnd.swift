// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Tells when the thread of a session has come to its end.
package final class SessionEnd: Sendable {
  private struct State {
    var hasCome = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// It has ended.
  package func come() {
    let waiters = state.withLock { state in
      state.hasCome = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when it has ended, whether the task is cancelled or not.
  package func wait() async {
    await withCheckedContinuation { waiter in
      let hasCome = state.withLock { state in
        if !state.hasCome { state.waiters.append(waiter) }
        return state.hasCome
      }
      if hasCome { waiter.resume() }
    }
  }
}
