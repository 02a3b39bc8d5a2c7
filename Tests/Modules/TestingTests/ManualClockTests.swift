// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeTesting
import KeepsakeValues
import Testing

@Suite struct ManualClockTests {
  private let clock = ManualClock()

  @Test func itStandsStillUntilItIsMoved() {
    let start = clock.now
    #expect(start == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(clock.now == start)
    clock.advance(by: .seconds(90))
    #expect(clock.now == start.addingTimeInterval(90))
    clock.advance(by: .seconds(-100))
    #expect(clock.now == start.addingTimeInterval(-10))
    clock.set(to: .distantPast)
    #expect(clock.now == .distantPast)
  }

  @Test func smallStepsAddUp() {
    for _ in 0..<10 { clock.advance(by: .microseconds(250)) }
    #expect(clock.milliseconds == 1_700_000_000_002)
  }

  @Test func aDateIsShownToItsMillisecond() {
    for milliseconds in Int64(1_700_000_000_000)..<1_700_000_001_000 {
      let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
      clock.set(to: date)
      #expect(clock.milliseconds == milliseconds)
      #expect(ManualClock(date).now == date)
      // The same millisecond, reached by an addition that is not exact.
      let offset = Double(milliseconds - 1_700_000_000_000) / 1000
      clock.set(to: Date(timeIntervalSince1970: 1_700_000_000).addingTimeInterval(offset))
      #expect(clock.milliseconds == milliseconds)
    }
  }

  @Test func devicesTakeTimestampsFromIt() throws {
    for device in try [Device.inMemory(clock: clock), .temporary(clock: clock)] {
      clock.set(to: Date(timeIntervalSince1970: 1_800_000_000))
      let change = try device.write([LocalWrite(store: "cloud", key: "k", value: 1)])
      #expect(change.map(\.timestamp.milliseconds) == [1_800_000_000_000])
      // It may go back; the timestamps do not.
      clock.advance(by: .seconds(-60))
      let next = try device.write([LocalWrite(store: "cloud", key: "k", value: 2)])
      #expect(try #require(next.first).timestamp > #require(change.first).timestamp)
    }
  }

  @Test func aTemporaryDeviceTakesItsFolderAlong() throws {
    var device: Device? = try Device.temporary(clock: clock)
    let path = try #require(device).path
    #expect(FileManager.default.fileExists(atPath: path))
    device = nil
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    #expect(!FileManager.default.fileExists(atPath: folder))
  }
}
