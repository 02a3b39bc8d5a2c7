// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import Synchronization

/// The state of a hub as a session knows it without a request: the newest mark while it listens,
/// the clock, the longest row, and the rows that were refused. So it may push at once, whether
/// others have pushed by then or not.
final class KnownHub: Sendable {
  private struct State {
    var newest: String?
    var rowLimit = Int.max
    /// Milliseconds since 1970, and when they came.
    var clock: (milliseconds: Int64, date: ContinuousClock.Instant)?
  }

  private let state = Mutex(State())
  let refused = RefusedRows()

  /// The newest mark by an event or a push; nil while nothing listens.
  var newest: String? {
    get { state.withLock(\.newest) }
    set { state.withLock { $0.newest = newValue } }
  }

  func note(clock: Int64, at now: ContinuousClock.Instant) {
    state.withLock { $0.clock = (clock, now) }
  }

  /// Notes clock and longest row of an answer, and adds the latter to one that does not say it.
  func complete(_ answer: inout HubPageAnswer, at now: ContinuousClock.Instant) {
    state.withLock { state in
      if answer.rowLimit == .max { answer.rowLimit = state.rowLimit }
      (state.rowLimit, state.clock) = (answer.rowLimit, (answer.clock, now))
    }
  }

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
    answer.rowLimit = state.rowLimit
    return answer
  }

  /// Whether either side has what the other has not. What a sync itself commits wakes its session,
  /// and its push comes back as an event.
  func isNew(to device: Device, account: Int64) -> Bool {
    guard let newest else { return true }
    let isSynced = Result { () throws(KeepsakeError) in
      try device.core.read { connection in
        let cursor = try connection.hubs.cursor(of: account)
        return try cursor.read == newest && cursor.newest == newest
          && cursor.sent.sequenceNumber == connection.marks.newestNumber()
      }
    }
    // The sync reports what fails.
    if case .success(true) = isSynced { return false }
    return true
  }
}
