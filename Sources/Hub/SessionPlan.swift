// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice

/// What a session does next, without threads, clocks or chance of its own.
package struct SessionPlan {
  package enum Step: Equatable {
    case meet
    /// Begin to listen for events.
    case listen
    /// Until then, or until something happens. In milliseconds of any clock that goes on.
    case wait(until: Int64?)
    case stop
  }

  /// Failures in a row, and the end of the pause after them.
  private struct Patience {
    private var failures = 0
    private(set) var end: Int64?

    private static let first: Int64 = 1000
    private static let longest: Int64 = 5 * 60 * 1000

    /// - Parameters:
    ///   - chance: from 0 to 1, so that devices do not all come at once.
    ///   - asked: what the hub asks for at least.
    mutating func fail(at now: Int64, chance: Double, asked: Int64) {
      let longest = min(Self.first << min(failures, 20), Self.longest)
      failures += 1
      let pause = longest / 2 + Int64(Double(longest / 2) * chance)
      end = max(now + max(pause, asked), end ?? 0)
    }

    mutating func pause(until other: Int64?) { end = max(end ?? 0, other ?? 0) }
    mutating func begin() { end = nil }
    mutating func succeed() { failures = 0 }
  }

  /// Whether either side may have changed since the last meeting began.
  private var isDirty = true
  private var meeting = Patience()
  private var listening = Patience()
  /// When something that waits for its time may be due.
  private var due: Int64?
  private(set) var isListening = false
  private(set) var refusal: KeepsakeError?

  package init() {}

  /// No request before.
  package var pauseEnd: Int64? { meeting.end }

  package func next(at now: Int64) -> Step {
    if refusal != nil { return .stop }
    if let end = meeting.end { return now < end ? .wait(until: end) : .meet }
    if isDirty || due.map({ $0 <= now }) ?? false { return .meet }
    if isListening { return .wait(until: due) }
    guard let end = listening.end, now < end else { return .listen }
    return .wait(until: min(end, due ?? end))
  }

  package mutating func change() { isDirty = true }

  package mutating func beginMeeting() {
    (isDirty, due) = (false, nil)
    meeting.begin()
  }

  package mutating func endMeeting(due: Int64?) {
    self.due = due
    meeting.succeed()
  }

  package mutating func beginListening() {
    isListening = true
    listening.begin()
  }

  /// The first event of a stream comes at once: others may have written since the last meeting.
  package mutating func hear() {
    isDirty = true
    listening.succeed()
  }

  /// A meeting has failed.
  ///
  /// - Parameter chance: from 0 to 1, so that devices do not all come at once.
  package mutating func fail(_ error: KeepsakeError, at now: Int64, chance: Double) {
    isDirty = true
    if Self.isFinal(error.code) { return refusal = error }
    meeting.fail(at: now, chance: chance, asked: error.retryAfter?.milliseconds ?? 0)
  }

  /// The events have ended. That does not keep the device from giving what it writes, unless the
  /// hub wants to be left alone; a meeting finds out at once whether the hub is there.
  package mutating func endListening(_ error: KeepsakeError, at now: Int64, chance: Double) {
    (isDirty, isListening) = (true, false)
    if Self.isFinal(error.code) { return refusal = error }
    let asked = error.retryAfter?.milliseconds
    listening.fail(at: now, chance: chance, asked: asked ?? 0)
    if asked != nil { meeting.pause(until: listening.end) }
  }

  /// What does not go away by itself.
  private static func isFinal(_ code: KeepsakeError.Code) -> Bool {
    switch code {
    case .unauthorized, .incompatible, .invalidValue, .invalidKey, .newerSchema, .forked,
      .readOnly:
      true
    default: false
    }
  }
}
