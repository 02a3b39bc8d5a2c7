// SPDX-License-Identifier: Apache-2.0

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
