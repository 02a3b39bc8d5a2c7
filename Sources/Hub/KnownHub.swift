// SPDX-License-Identifier: Apache-2.0

import KeepsakeSync
import Synchronization

/// The state of a hub as a session knows it without a request: the newest mark while it listens,
/// the clock, and the longest row. So it may push at once: if others have pushed by then, the hub
/// refuses.
final class KnownHub: Sendable {
  private struct State {
    var newest: String?
    var rowLimit: Int?
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

  func note(rowLimit: Int) { state.withLock { $0.rowLimit = rowLimit } }

  /// Notes the newest mark of the answer to a push.
  ///
  /// - Parameter base: the newest mark before. An event may have brought a later one meanwhile.
  func note(newest: String, after base: String) {
    state.withLock { if $0.newest == base { $0.newest = newest } }
  }

  /// - Returns: the answer of a hub that has nothing new; nil if it has to be asked.
  func answer(
    to request: HubPageRequest, at now: ContinuousClock.Instant
  ) -> HubPageAnswer? {
    let state = state.withLock(\.self)
    guard request.isConditional, request.cursor == state.newest, let clock = state.clock else {
      return nil
    }
    let passed = clock.date.duration(to: now) / .milliseconds(1)
    var answer = HubPageAnswer(newest: request.cursor, clock: clock.milliseconds + Int64(passed))
    if let limit = state.rowLimit { answer.rowLimit = limit }
    return answer
  }
}
