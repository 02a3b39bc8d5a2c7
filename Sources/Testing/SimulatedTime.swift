// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import Synchronization

/// One true time, and a clock for each device that may be ahead or behind.
///
/// Each reading of a clock first advances all of them by a millisecond, so that of two writes the
/// second one has the later time, on whichever devices.
final class SimulatedTime: Sendable {
  private let clocks = Mutex<[ManualClock]>([])
  /// The true time.
  private let right = ManualClock()

  var all: [ManualClock] { clocks.withLock { $0 } }

  var now: Date { right.now }

  /// - Parameter original: the clock whose time to copy; nil for the true time.
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
      return clock.now
    }
  }
}
