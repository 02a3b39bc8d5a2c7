// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues
import Synchronization

/// A wall clock that tests move by hand.
public final class MovableClock: Sendable {
  private let now: Mutex<Int64>

  public init(_ milliseconds: Int64 = 1_700_000_000_000) {
    now = Mutex(milliseconds)
  }

  /// Milliseconds since 1970.
  public var milliseconds: Int64 {
    get { now.withLock { $0 } }
    set { now.withLock { $0 = newValue } }
  }

  public var clock: WallClock { WallClock { self.milliseconds } }
}
