// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeepsakeValues
import Synchronization

/// A clock that stands still until a test moves it, forwards or back.
///
///     let clock = ManualClock()
///     let settings = try AppSettings(on: .inMemory(clock: clock))
///     clock.advance(by: .seconds(60))
public final class ManualClock: Sendable {
  /// Since 1970. Exact, so that many small steps are as far as one large one.
  private let time: Mutex<Duration>

  /// - Parameter start: what it shows at first, to the millisecond; 14 November 2023, 22:13:20 UTC
  ///   unless told otherwise.
  public convenience init(_ start: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
    self.init(milliseconds: Self.milliseconds(start))
  }

  package init(milliseconds: Int64) {
    time = Mutex(.milliseconds(milliseconds))
  }

  /// What it shows.
  public var now: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Moves it on; back by a negative duration.
  public func advance(by duration: Duration) { time.withLock { $0 += duration } }

  /// Makes it show a time, to the millisecond.
  public func set(to date: Date) { milliseconds = Self.milliseconds(date) }

  /// The same clock, as `Device` takes it.
  public var wallClock: WallClock { WallClock { self.milliseconds } }

  /// Milliseconds since 1970.
  package var milliseconds: Int64 {
    get {
      let (seconds, attoseconds) = time.withLock { $0 }.components
      return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
    set { time.withLock { $0 = .milliseconds(newValue) } }
  }

  /// Rounded: a date is a binary fraction, which lies below the millisecond it is meant to be as
  /// often as above.
  private static func milliseconds(_ date: Date) -> Int64 {
    Int64((date.timeIntervalSince1970 * 1000).rounded())
  }
}
