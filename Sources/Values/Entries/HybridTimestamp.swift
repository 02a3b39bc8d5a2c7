// SPDX-License-Identifier: Apache-2.0

/// The time of a write by a hybrid logical clock (Kulkarni et al., "Logical Physical Clocks",
/// 2014).
///
/// 47 bits of milliseconds since 1970 (until the year 6429) and a 16-bit counter in one `Int64`, so
/// that timestamps compare as numbers in Swift and in SQL. The clock never runs backwards, even if
/// the wall clock does.
public struct HybridTimestamp: Hashable, Comparable, Sendable {
  /// The milliseconds times 65,536, and the counter.
  package let rawValue: Int64

  /// A stored timestamp.
  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The first timestamp of a millisecond, clamped to 0...`maximumMilliseconds`.
  package init(milliseconds: Int64) {
    rawValue = min(max(milliseconds, 0), Self.maximumMilliseconds) << 16
  }

  /// The last millisecond of the range.
  package static let maximumMilliseconds: Int64 = 1 << 47 - 1

  /// The timestamp before every write.
  package static let zero = HybridTimestamp(rawValue: 0)

  /// The time by the writing device's clock, or by a faster clock whose writes it had received.
  public var date: Date { Date(milliseconds: milliseconds) }

  /// Milliseconds since 1970.
  package var milliseconds: Int64 { rawValue >> 16 }

  public static func < (a: HybridTimestamp, b: HybridTimestamp) -> Bool {
    a.rawValue < b.rawValue
  }

  /// The timestamp of a local write: later than every timestamp that this device has accepted and
  /// than the entry that it replaces, and not before the wall clock. So a wrong wall clock cannot
  /// make a write fail, or lose to a value that its author had read.
  ///
  /// - Returns: nil when the clock has reached its maximum, which only a damaged file can cause.
  package static func next(
    after last: HybridTimestamp, replacing old: HybridTimestamp?, wallClock: Int64
  ) -> HybridTimestamp? {
    let floor = max(last, old ?? .zero)
    guard floor.rawValue < Int64.max else { return nil }
    return max(
      HybridTimestamp(rawValue: floor.rawValue + 1), HybridTimestamp(milliseconds: wallClock))
  }

  /// The latest timestamp that is accepted, `skew` ahead of `now`. Both are in milliseconds.
  package static func horizon(now: Int64, skew: Int64) -> HybridTimestamp {
    let (sum, overflow) = now.addingReportingOverflow(skew)
    return HybridTimestamp(milliseconds: overflow ? .max : sum)
  }
}

extension HybridTimestamp: CustomStringConvertible {
  /// 16 hexadecimal digits.
  public var description: String { HexNumber.text(rawValue) }
}
