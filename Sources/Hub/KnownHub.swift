// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import Synchronization

/// The state of a hub as a session knows it without a request: the newest mark while it listens,
/// the clock, the maximum row size, and the refused rows. With it a session can push without
/// reading first.
final class KnownHub: Sendable {
  private struct LastAnswers {
    var newest: String?
    var rowLimit = Int.max
    /// The hub's clock in milliseconds since 1970, and when it was received.
    var clock: (milliseconds: Int64, date: ContinuousClock.Instant)?
  }

  private let state = Mutex(LastAnswers())
  let refused = RefusedRows()

  /// The newest mark by an event or a push; nil while there is no event stream.
  var newest: String? {
    get { state.withLock(\.newest) }
    set { state.withLock { $0.newest = newValue } }
  }

  func note(clock: Int64, at now: ContinuousClock.Instant) {
    state.withLock { $0.clock = (clock, now) }
  }

  /// Stores the clock and the maximum row size of an answer. An answer without the latter gets the
  /// stored one.
  func complete(_ answer: inout HubPageAnswer, at now: ContinuousClock.Instant) {
    state.withLock { state in
      if answer.rowLimit == .max { answer.rowLimit = state.rowLimit }
      (state.rowLimit, state.clock) = (answer.rowLimit, (answer.clock, now))
    }
  }

  /// Stores the newest mark of the answer to a push.
  ///
  /// - Parameter base: the newest mark before. An event may have brought a later one meanwhile.
  func note(newest: String, after base: String) {
    state.withLock { if $0.newest == base { $0.newest = newest } }
  }

  /// - Returns: the answer if the hub is known to have nothing new; nil if a request is needed.
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

  /// Whether either side has something that the other lacks. A sync's own commits and pushes also
  /// wake its session, which this tells apart.
  func isNew(to device: Device, account: Int64) -> Bool {
    guard let newest else { return true }
    let isSynced = Result { () throws(KeepsakeError) in
      try device.tables.read { connection in
        let cursor = try connection.hubs.cursor(of: account)
        return try cursor.read == newest && cursor.newest == newest
          && cursor.sent.sequenceNumber == connection.marks.newestNumber()
      }
    }
    // If the read fails, the sync reports it.
    if case .success(true) = isSynced { return false }
    return true
  }
}
