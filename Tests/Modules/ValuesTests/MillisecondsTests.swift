// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import TestSupport
import Testing

@Suite struct MillisecondsTests {
  @Test(arguments: Seeds.list(20))
  func everyMillisecondOfATimestampIsADateAndBack(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for bits in 0..<47 {
      let milliseconds = Int64.random(in: 0...(1 << bits), using: &generator)
      #expect(Date(milliseconds: milliseconds).milliseconds == milliseconds, "seed \(seed)")
      #expect(Date(milliseconds: -milliseconds).milliseconds == -milliseconds, "seed \(seed)")
      #expect(HybridTimestamp(milliseconds: milliseconds).date == Date(milliseconds: milliseconds))
      let clock = WallClock.fixed(Date(milliseconds: milliseconds))
      #expect(clock.milliseconds == milliseconds, "seed \(seed)")
    }
  }

  @Test func aDurationIsItsWholeMilliseconds() {
    #expect(Duration.seconds(90 * 86_400).milliseconds == 7_776_000_000)
    #expect(Duration.milliseconds(-1500).milliseconds == -1500)
    #expect(Duration.microseconds(1999).milliseconds == 1)
  }

  @Test func whatNoClockShowsIsClampedSoThatItCanBeReckonedWith() {
    let latest = [Date.distantFuture, Date(timeIntervalSince1970: .infinity)].map(\.milliseconds)
    #expect(latest == [64_092_211_200_000, 1 << 60])
    #expect(Date(timeIntervalSince1970: -.infinity).milliseconds == -1 << 60)
    #expect(abs(Duration.seconds(Int64.max).milliseconds - 1 << 60) < 1000)
    #expect(abs(Duration.seconds(Int64.min).milliseconds + 1 << 60) < 1000)
  }
}
