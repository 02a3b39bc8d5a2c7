// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice

/// What a session does next, without threads, clocks or chance of its own.
struct SessionPlan {
  enum Step: Equatable {
    case meet
    /// Begin to listen for events.
    case listen
    /// Until then, or until something happens. In milliseconds of any clock that goes on.
    case wait(until: Int64?)
    case stop
  }

  /// Whether either side may have changed since the last meeting began.
  private var isDirty = true
  /// Failures in a row.
  private var failures = 0
  /// No request before.
  private(set) var pauseEnd: Int64?
  /// When something that waits for its time may be due.
  private var due: Int64?
  private var isListening = false
  private(set) var refusal: KeepsakeError?

  private static let firstPause: Int64 = 1000
  private static let longestPause: Int64 = 5 * 60 * 1000

  func next(at now: Int64) -> Step {
    if refusal != nil { return .stop }
    if let pauseEnd { return now < pauseEnd ? .wait(until: pauseEnd) : .meet }
    if isDirty || due.map({ $0 <= now }) ?? false { return .meet }
    return isListening ? .wait(until: due) : .listen
  }

  mutating func change() { isDirty = true }

  mutating func beginMeeting() { (isDirty, pauseEnd, due) = (false, nil, nil) }
  mutating func endMeeting(due: Int64?) { self.due = due }

  mutating func beginListening() { isListening = true }

  /// The first event of a stream comes at once: others may have written since the last meeting.
  mutating func hear() { (failures, isDirty) = (0, true) }

  mutating func endListening() { isListening = false }

  /// - Parameter chance: from 0 to 1, so that devices do not all come at once.
  mutating func fail(_ error: KeepsakeError, at now: Int64, chance: Double) {
    guard !Self.isFinal(error.code) else {
      refusal = error
      return
    }
    isDirty = true
    let longest = min(Self.firstPause << min(failures, 20), Self.longestPause)
    failures += 1
    let pause = longest / 2 + Int64(Double(longest / 2) * chance)
    let asked = error.retryAfter.map { $0.components.seconds * 1000 } ?? 0
    pauseEnd = max(now + max(pause, asked), pauseEnd ?? 0)
  }

  /// What does not go away by itself.
  private static func isFinal(_ code: KeepsakeError.Code) -> Bool {
    switch code {
    case .unauthorized, .incompatible, .invalidValue, .invalidKey, .newerSchema, .inherited,
      .readOnly:
      true
    default: false
    }
  }
}
