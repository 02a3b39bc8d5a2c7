// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct ScalarTests {
  @Test func aUUIDIsStoredAsItsTextAndReadInEitherCase() throws {
    let id = UUID()
    #expect(id.toBackingStore() == .string(id.uuidString))
    #expect(try UUID.fromBackingStore(.string(id.uuidString)) == id)
    #expect(try UUID.fromBackingStore(.string(id.uuidString.lowercased())) == id)
    for bad: StoredValue in ["", "x", .string(id.uuidString + " "), 1, .data(Data(count: 16))] {
      #expect(throws: ValueError.self) { try UUID.fromBackingStore(bad) }
    }
  }

  // MARK: - Decimal

  @Test(arguments: Seeds.list(20))
  func aDecimalIsStoredExactly(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let number = Decimal(
        sign: random.chance(50) ? .plus : .minus,
        exponent: Int.random(in: -60...60, using: &random),
        significand: Decimal(random.next() >> Int.random(in: 0..<64, using: &random)))
      let stored = try number.toBackingStore()
      #expect(try Decimal.fromBackingStore(stored) == number, "\(number) seed \(seed)")
    }
  }

  @Test(arguments: [
    ("12.50", "12.5"), ("-0", "0"), ("007", "7"), ("1e3", "1000"), ("1.5E-3", "0.0015"),
    ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ("NaN", "NaN"), ("0.00", "0"), ("1e+2", "100"),
  ])
  func textThatPeopleWriteIsReadAndStoredInOneWay(text: String, canonical: String) throws {
    #expect(try Decimal.fromBackingStore(.string(text)).toBackingStore() == .string(canonical))
  }

  @Test(arguments: [
    "", "-", ".", "1.", ".5", "1,5", "1 ", "+1", "0x10", "1e", "1e1e1", "1e9999999", "1e-200", "٣",
    "1234567890123456789012345678901234567891", "0.1234567890123456789012345678901234567891",
    "999999999999999999999999999999999999999", "1e-130", "1e180", "nan", "inf",
  ])
  func textThatADecimalCannotHoldExactlyIsRefused(text: String) {
    let error = #expect(throws: ValueError.self) { try Decimal.fromBackingStore(.string(text)) }
    #expect(error?.code == .invalid)
    #expect(text.count < 4 || error?.description.contains(text) == false)
  }

  @Test func theLargestAndTheSmallestDecimalComeBack() throws {
    let extremes: [Decimal] = [
      .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
    ]
    for number in extremes {
      #expect(try Decimal.fromBackingStore(number.toBackingStore()) == number)
    }
    #expect(try Decimal.fromBackingStore(Decimal.nan.toBackingStore()).isNaN)
  }

  @Test func numbersAreReadWhenTheyAreExact() throws {
    #expect(try Decimal.fromBackingStore(.integer(.min)) == Decimal(Int64.min))
    #expect(try Decimal.fromBackingStore(0.5) == Decimal(string: "0.5"))
    #expect(try Decimal.fromBackingStore(.real(-0.0)) == 0)
    #expect(try Decimal.fromBackingStore(0.1) == Decimal(string: "0.1"))
    for bad: StoredValue in [
      .real(.nan), .real(.infinity), .real(1e200), true, .real(.leastNonzeroMagnitude),
    ] {
      #expect(throws: ValueError.self) { try Decimal.fromBackingStore(bad) }
    }
  }

  // MARK: - Duration

  @Test(arguments: Seeds.list(20))
  func aDurationIsStoredToTheAttosecond(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let bits = Int128(truncatingIfNeeded: random.next()) << 64 | Int128(random.next())
      let duration = Duration(attoseconds: bits >> Int.random(in: 0..<127, using: &random))
      let stored = duration.toBackingStore()
      #expect(try Duration.fromBackingStore(stored) == duration, "\(duration) seed \(seed)")
    }
  }

  @Test(arguments: [
    (Duration.zero, "0"), (.seconds(90), "90"), (.milliseconds(250), "0.25"),
    (.milliseconds(-1500), "-1.5"), (Duration(attoseconds: 1), "0.000000000000000001"),
    (Duration(attoseconds: .max), "170141183460469231731.687303715884105727"),
    (Duration(attoseconds: .min), "-170141183460469231731.687303715884105728"),
  ])
  func aDurationIsSecondsInDigits(duration: Duration, text: String) throws {
    #expect(duration.toBackingStore() == .string(text))
    #expect(try Duration.fromBackingStore(.string(text)) == duration)
  }

  @Test(arguments: [
    (StoredValue.integer(90), Duration.seconds(90)), (0.1, .milliseconds(100)),
    (.real(-2), .seconds(-2)), (.real(1e-9), .nanoseconds(1)), ("1.50", .milliseconds(1500)),
    (.real(1_000_000_001), .seconds(1_000_000_001)), (.integer(.max), .seconds(Int64.max)),
  ])
  func aSliderOrAPersonMayGiveANumberOfSeconds(value: StoredValue, duration: Duration) throws {
    #expect(try Duration.fromBackingStore(value) == duration)
  }

  @Test(arguments: [
    StoredValue.string(""), "1s", "0.0000000000000000001",
    "170141183460469231731.687303715884105728",
    .real(.nan), .real(.infinity), .real(1e300), .real(1e-300), true, "1e22", "1e-900",
  ])
  func whatIsNoDurationIsRefused(value: StoredValue) {
    #expect(throws: ValueError.self) { try Duration.fromBackingStore(value) }
  }
}
