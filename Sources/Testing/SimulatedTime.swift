// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import Synchronization

/// One time for all, and a clock for each device that may be ahead or behind.
///
/// Each time a device looks at its clock all of them have moved on by a millisecond, so that of two
/// writes the second is the later one, on whichever devices they are made.
final class SimulatedTime: Sendable {
  private let clocks = Mutex<[ManualClock]>([])
  /// What a clock that is right shows.
  private let right = ManualClock()

  var all: [ManualClock] { clocks.withLock { $0 } }

  var now: Date { right.now }

  /// - Parameter original: whose time the new clock shows; nil for the right one.
  func addClock(like original: ManualClock? = nil) {
    let start = (original ?? right).milliseconds
    clocks.withLock { $0.append(ManualClock(milliseconds: start)) }
  }

  func advance(by duration: Duration) {
    for clock in all + [right] { clock.advance(by: duration) }
  }

  func wallClock(of clock: ManualClock) -> WallClock {
    WallClock {
      self.advance(by: .milliseconds(1))
      return clock.milliseconds
    }
  }
}
