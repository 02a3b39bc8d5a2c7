// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice

/// What a session does next, without threads, clocks or chance of its own.
package struct SessionPlan {
  package enum Step: Equatable {
    case sync
    /// Begin to listen for events.
    case listen
    /// Until then, or until something happens. In milliseconds of any clock that goes on.
    case wait(until: Int64?)
    case stop
  }

  /// Failures in a row, and the end of the pause after them.
  private struct Retry {
    private var failures = 0
    private(set) var end: Int64?

    private static let first: Int64 = 1_000
    private static let longest: Int64 = 5 * 60 * 1_000

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

  /// Syncs that may begin within a second: a device that writes in a loop is synced so often.
  private static let syncsPerSecond = 5

  /// Whether either side may have changed since the last sync began.
  private var isDirty = true
  private var syncing = Retry()
  private var listening = Retry()
  /// When the last syncs began.
  private var starts: [Int64] = []
  /// When something that waits for its time may be due.
  private var due: Int64?
  /// Whether there are events to listen for.
  private let hasEvents: Bool
  private(set) var isListening = false
  package private(set) var refusal: KeepsakeError?

  package init(hasEvents: Bool = true) { self.hasEvents = hasEvents }

  /// The end of the pause before the next sync.
  package var pauseEnd: Int64? { syncing.end }

  package func next(at now: Int64) -> Step {
    if refusal != nil { return .stop }
    if let end = syncing.end { return now < end ? .wait(until: end) : .sync }
    if isDirty || due.map({ $0 <= now }) ?? false {
      let start = starts.count < Self.syncsPerSecond ? now : starts[0] + 1_000
      return now < start ? .wait(until: start) : .sync
    }
    if isListening || !hasEvents { return .wait(until: due) }
    guard let end = listening.end, now < end else { return .listen }
    return .wait(until: min(end, due ?? end))
  }

  package mutating func change() { isDirty = true }

  /// Whether the next sync is due without a change.
  package func isDue(at now: Int64) -> Bool {
    syncing.end != nil || due.map { $0 <= now } ?? false
  }

  package mutating func beginSync(at now: Int64) {
    isDirty = false
    if let due, due <= now { self.due = nil }
    starts = starts.suffix(Self.syncsPerSecond - 1) + [now]
    syncing.begin()
  }

  package mutating func endSync(due: Int64?) {
    self.due = due
    syncing.succeed()
  }

  package mutating func beginListening() {
    isListening = true
    listening.begin()
  }

  /// The first event of a stream comes at once: others may have written since the last sync.
  package mutating func hear() {
    isDirty = true
    listening.succeed()
  }

  /// A sync has failed.
  ///
  /// - Parameter chance: from 0 to 1, so that devices do not all come at once.
  package mutating func fail(
    _ error: KeepsakeError, at now: Int64, chance: Double, asked: Duration? = nil
  ) {
    isDirty = true
    if hasEvents, Self.isFinal(error.code) { return refusal = error }
    syncing.fail(at: now, chance: chance, asked: asked?.milliseconds ?? 0)
  }

  /// The events have ended. The device goes on sending what it writes, unless the hub wants to be
  /// left alone; a sync finds out at once whether the hub is there.
  package mutating func endListening(
    _ error: KeepsakeError, at now: Int64, chance: Double, asked: Duration? = nil
  ) {
    (isDirty, isListening) = (true, false)
    if Self.isFinal(error.code) { return refusal = error }
    listening.fail(at: now, chance: chance, asked: asked?.milliseconds ?? 0)
    if asked != nil { syncing.pause(until: listening.end) }
  }

  /// Whether retrying cannot help.
  private static func isFinal(_ code: KeepsakeError.Code) -> Bool {
    switch code {
    case .unauthorized, .incompatible, .invalidValue, .invalidKey, .newerSchema, .readOnly:
      true
    default: false
    }
  }
}
