// SPDX-License-Identifier: Apache-2.0
//
// The public API has dates and durations; files have milliseconds.

extension Date {
  /// The date that is a number of milliseconds after 1970.
  package init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// Milliseconds since 1970, clamped. Rounded, because the binary fraction of a date may be just
  /// below a millisecond.
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
  /// Limits milliseconds to 2^60, so that sums and differences of a few do not overflow.
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

  /// A clock that always returns this time.
  public static func fixed(_ time: Date) -> WallClock { WallClock { time } }

  /// Milliseconds since 1970.
  package var milliseconds: Int64 { now().milliseconds }
}
