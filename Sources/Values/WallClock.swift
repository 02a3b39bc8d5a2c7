// SPDX-License-Identifier: Apache-2.0

/// The source of a device's time, in milliseconds since 1970.
public struct WallClock: Sendable {
  private let read: @Sendable () -> Int64

  /// - Parameter milliseconds: returns milliseconds since 1970; called for each write.
  public init(_ milliseconds: @escaping @Sendable () -> Int64) {
    read = milliseconds
  }

  /// The system's clock.
  public static let system = WallClock { Int64(Date().timeIntervalSince1970 * 1000) }

  /// A clock that always shows `milliseconds` since 1970.
  public static func fixed(_ milliseconds: Int64) -> WallClock { WallClock { milliseconds } }

  package var milliseconds: Int64 { read() }
}
