// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeepsakeDevice
public import KeepsakeValues
import Synchronization

/// A clock that a test advances or sets back.
///
///     let clock = ManualClock()
///     let settings = try AppSettings(on: .inMemory(clock: clock))
///     clock.advance(by: .seconds(60))
public final class ManualClock: Sendable {
  /// Since 1970. Exact, so that many small steps add up.
  private let time: Mutex<Duration>

  /// - Parameter start: the first time, rounded to milliseconds; by default 14 November 2023,
  ///   22:13:20 UTC.
  public convenience init(_ start: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
    self.init(milliseconds: start.milliseconds)
  }

  package init(milliseconds: Int64) {
    time = Mutex(.milliseconds(milliseconds))
  }

  /// The current time.
  public var now: Date { Date(milliseconds: milliseconds) }

  /// Advances the clock; a negative duration sets it back.
  public func advance(by duration: Duration) { time.withLock { $0 += duration } }

  /// Sets the time, rounded to milliseconds.
  public func set(to date: Date) { milliseconds = date.milliseconds }

  /// This clock as a parameter for `Device`.
  public var wallClock: WallClock { WallClock { self.now } }

  /// Milliseconds since 1970.
  package var milliseconds: Int64 {
    get { time.withLock { $0 }.milliseconds }
    set { time.withLock { $0 = .milliseconds(newValue) } }
  }
}

extension Device {
  /// An in-memory device with this clock, deleted with its last handle.
  public static func inMemory(clock: ManualClock) throws(KeepsakeError) -> Device {
    try inMemory(clock: clock.wallClock)
  }

  /// A device with this clock in a new temporary folder, deleted with its last handle.
  public static func temporary(clock: ManualClock) throws(KeepsakeError) -> Device {
    try temporary(clock: clock.wallClock)
  }
}

/// One true time, and a clock for each device that may be ahead or behind.
///
/// Each reading of a clock first advances all of them by a millisecond, so a later write has a
/// later time, on any devices.
final class SimulatedTime: Sendable {
  private let clocks = Mutex<[ManualClock]>([])
  /// The true time.
  private let trueClock = ManualClock()

  var all: [ManualClock] { clocks.withLock { $0 } }

  var now: Date { trueClock.now }

  /// - Parameter original: the clock whose time to copy; nil for the true time.
  func addClock(like original: ManualClock? = nil) {
    let start = (original ?? trueClock).milliseconds
    clocks.withLock { $0.append(ManualClock(milliseconds: start)) }
  }

  func advance(by duration: Duration) {
    for clock in all + [trueClock] { clock.advance(by: duration) }
  }

  func wallClock(of clock: ManualClock) -> WallClock {
    WallClock {
      self.advance(by: .milliseconds(1))
      return clock.now
    }
  }
}
