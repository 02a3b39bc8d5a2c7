// SPDX-License-Identifier: Apache-2.0

/// Where a device gets the time from: milliseconds since 1970.
public struct WallClock: Sendable {
  private let read: @Sendable () -> Int64

  /// - Parameter milliseconds: called whenever a write needs a stamp; returns milliseconds since
  ///   1970.
  public init(_ milliseconds: @escaping @Sendable () -> Int64) {
    read = milliseconds
  }

  /// The system's clock.
  public static let system = WallClock { Int64(Date().timeIntervalSince1970 * 1000) }

  /// A clock that always shows `milliseconds` since 1970.
  public static func fixed(_ milliseconds: Int64) -> WallClock { WallClock { milliseconds } }

  package var milliseconds: Int64 { read() }
}
