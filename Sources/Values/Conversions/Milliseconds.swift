// SPDX-License-Identifier: Apache-2.0
//
// Times are dates and durations for those who use this package, and milliseconds in the file.

extension Date {
  /// The time of so many milliseconds since 1970.
  package init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// Milliseconds since 1970, clamped. Rounded, because a date is a binary fraction just below or
  /// above a millisecond.
  package var milliseconds: Int64 {
    let milliseconds = (timeIntervalSince1970 * 1000).rounded()
    return Int64.clamped(Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
  }
}

extension Duration {
  /// Whole milliseconds, clamped.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let rest = attoseconds / 1_000_000_000_000_000
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return Int64.clamped(overflow ? (seconds < 0 ? .min : .max) : whole) + rest
  }
}

extension Int64 {
  /// So that sums and differences of a few times do not overflow; far from all that is possible.
  fileprivate static func clamped(_ milliseconds: Int64) -> Int64 {
    Swift.min(Swift.max(milliseconds, -1 << 60), 1 << 60)
  }
}

/// The source of a device's time.
public struct WallClock: Sendable {
  private let now: @Sendable () -> Date

  /// - Parameter now: returns the time, which is rounded to milliseconds; called for each write.
  public init(_ now: @escaping @Sendable () -> Date) {
    self.now = now
  }

  /// The system's clock.
  public static let system = WallClock { Date() }

  /// A clock that always shows this time.
  public static func fixed(_ time: Date) -> WallClock { WallClock { time } }

  /// Milliseconds since 1970.
  package var milliseconds: Int64 { now().milliseconds }
}
