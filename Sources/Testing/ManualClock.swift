// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeepsakeValues
import Synchronization

/// A clock that a test advances or sets back.
///
///     let clock = ManualClock()
///     let settings = try AppSettings(on: .inMemory(clock: clock))
///     clock.advance(by: .seconds(60))
public final class ManualClock: Sendable {
  /// Since 1970. Exact, so that many small steps add up.
  private let time: Mutex<Duration>

  /// - Parameter start: the first time, rounded to milliseconds; by default 14 November 2023,
  ///   22:13:20 UTC.
  public convenience init(_ start: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
    self.init(milliseconds: start.milliseconds)
  }

  package init(milliseconds: Int64) {
    time = Mutex(.milliseconds(milliseconds))
  }

  /// The current time.
  public var now: Date { Date(milliseconds: milliseconds) }

  /// Advances the clock; a negative duration sets it back.
  public func advance(by duration: Duration) { time.withLock { $0 += duration } }

  /// Sets the time, rounded to milliseconds.
  public func set(to date: Date) { milliseconds = date.milliseconds }

  /// This clock as a parameter for `Device`.
  public var wallClock: WallClock { WallClock { self.now } }

  /// Milliseconds since 1970.
  package var milliseconds: Int64 {
    get { time.withLock { $0 }.milliseconds }
    set { time.withLock { $0 = .milliseconds(newValue) } }
  }
}
