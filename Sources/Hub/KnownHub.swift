// SPDX-License-Identifier: Apache-2.0

import KeepsakeSync
import Synchronization

/// What a session knows of its hub without a request: the newest mark while it listens, and the
/// clock. So it may push at once: if others have pushed by then, the hub refuses.
final class KnownHub: Sendable {
  private struct State {
    var newest: String?
    /// Milliseconds since 1970, and when they came.
    var clock: (milliseconds: Int64, date: ContinuousClock.Instant)?
  }

  private let state = Mutex(State())

  /// The newest mark by an event or a push; nil while nothing listens.
  var newest: String? {
    get { state.withLock(\.newest) }
    set { state.withLock { $0.newest = newValue } }
  }

  func note(clock: Int64, at now: ContinuousClock.Instant) {
    state.withLock { $0.clock = (clock, now) }
  }

  func notePush(_ newest: String) {
    state.withLock { if $0.newest != nil { $0.newest = newest } }
  }

  /// - Returns: the answer of a hub that has nothing new; nil if it has to be asked.
  func answer(
    to request: HubPageRequest, at now: ContinuousClock.Instant
  ) -> HubPageAnswer? {
    let (newest, clock) = state.withLock { ($0.newest, $0.clock) }
    guard request.isConditional, request.cursor == newest, let clock else { return nil }
    let passed = clock.date.duration(to: now) / .milliseconds(1)
    return HubPageAnswer(newest: request.cursor, clock: clock.milliseconds + Int64(passed))
  }
}
