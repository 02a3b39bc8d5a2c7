// SPDX-License-Identifier: Apache-2.0

/// When a write happened, by a hybrid logical clock: wall-clock milliseconds, then a counter.
///
/// 47 bits of milliseconds since 1970 (until the year 6429) and a 16-bit counter in one `Int64`, so
/// that stamps compare as numbers in Swift and in SQL. The clock never runs backwards, whatever the
/// wall clock does. (Kulkarni et al., "Logical Physical Clocks", 2014.)
public struct HybridTimestamp: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The first stamp of a millisecond. Milliseconds outside 0...`maximumMilliseconds` are cut to
  /// it.
  public init(milliseconds: Int64) {
    rawValue = min(max(milliseconds, 0), Self.maximumMilliseconds) << 16
  }

  /// The last millisecond that a stamp can hold.
  public static let maximumMilliseconds: Int64 = 1 << 47 - 1

  /// Before every write.
  public static let zero = HybridTimestamp(rawValue: 0)

  /// Milliseconds since 1970.
  public var milliseconds: Int64 { rawValue >> 16 }

  public static func < (a: HybridTimestamp, b: HybridTimestamp) -> Bool {
    a.rawValue < b.rawValue
  }

  /// The stamp for a local write: later than everything this device has accepted and than the entry
  /// it replaces, and at or after the wall clock. A wrong wall clock can therefore never make a
  /// write fail, or lose to what its author saw.
  ///
  /// - Returns: nil when the clock is at its very end, which only a damaged file can bring about.
  package static func next(
    after last: HybridTimestamp, replacing old: HybridTimestamp?, wallClock: Int64
  ) -> HybridTimestamp? {
    let floor = max(last, old ?? .zero)
    guard floor.rawValue < Int64.max else { return nil }
    return max(
      HybridTimestamp(rawValue: floor.rawValue + 1), HybridTimestamp(milliseconds: wallClock))
  }
}

extension HybridTimestamp: CustomStringConvertible {
  /// 16 hexadecimal digits.
  public var description: String { hexadecimal(rawValue) }
}

/// 16 hexadecimal digits of the bits of `number`.
func hexadecimal(_ number: Int64) -> String {
  let digits = String(UInt64(bitPattern: number), radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}
