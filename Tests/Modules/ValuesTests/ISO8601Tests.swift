// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct ISO8601Tests {
  @Test(arguments: [
    ("1970-01-01T00:00:00.000Z", Int64(0)), ("2001-01-01T00:00:00.000Z", 978_307_200_000),
    ("2026-11-20T10:00:00.123Z", 1_795_168_800_123), ("1969-12-31T23:59:59.999Z", -1),
    ("2000-02-29T12:30:00.000Z", 951_827_400_000),
    ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
  ])
  func aTimePrintsAndReadsBack(text: String, milliseconds: Int64) {
    #expect(ISO8601.text(milliseconds: milliseconds) == text)
    #expect(ISO8601.milliseconds(text) == milliseconds)
  }

  @Test(arguments: [
    ("2026-11-20", Int64(1_795_132_800_000)), ("2026-11-20T10:00Z", 1_795_168_800_000),
    ("2026-11-20T10:00:00Z", 1_795_168_800_000), ("2026-11-20T10:00:00.5Z", 1_795_168_800_500),
    ("2026-11-20T10:00:00.1239Z", 1_795_168_800_123),
    ("2026-11-20T12:00:00+02:00", 1_795_168_800_000),
    ("2026-11-20T08:30:00-0130", 1_795_168_800_000),
  ])
  func otherSpellingsAreRead(text: String, milliseconds: Int64) {
    #expect(ISO8601.milliseconds(text) == milliseconds)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-30", "2025-02-29", "2100-02-29", "2026-11-20T24:00Z",
    "2026-11-20T10:60Z",
    "2026-11-20T10:00:60Z", "2026-11-20T10:00", "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00Zx",
    "26-11-20", "2026-11-20T10:00:00+25:00", "٢٠٢٦-11-20",
  ])
  func whatIsNoTimeIsRefused(text: String) {
    #expect(ISO8601.milliseconds(text) == nil)
  }

  @Test(arguments: Seeds.list(10))
  func theCalendarAgreesWithFoundations(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    for _ in 0..<200 {
      // From 1583 on: before, Foundation may change to the Julian calendar.
      let seconds = Int64.random(in: -12_212_553_600...253_402_300_799, using: &generator)
      let ours = ISO8601.text(milliseconds: seconds * 1000)
      let theirs = Date(timeIntervalSince1970: Double(seconds)).formatted(style)
      #expect(ours == theirs.dropLast() + ".000Z", "seed \(seed)")
    }
  }
}
