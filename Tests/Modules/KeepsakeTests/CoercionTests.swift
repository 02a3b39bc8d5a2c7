// SPDX-License-Identifier: Apache-2.0
//
// What each name makes of values of another type. The tables are Foundation's rules; what they make
// of generated text is compared with Foundation itself in `CoercionDifferentialTests.swift`.

import Foundation
import Keepsake
import Testing

@Suite struct CoercionTests {
  private let local: UserDefaultsStore
  private let cloud: CloudKeyValueStore

  init() throws {
    let device = try Device.inMemory()
    local = try UserDefaultsStore(on: device)
    cloud = try CloudKeyValueStore(on: device)
  }

  private func store(_ value: StoredValue?) {
    local.set(value, forKey: "k")
    cloud.set(value, forKey: "k")
  }

  @Test(arguments: [
    ("YES", true), ("yes", true), ("T", true), (" YES", true), ("01", true), ("2", true),
    ("-1", true), ("+1", true), ("12.9", true), ("1abc", true), ("true", true), (" +1", true),
    ("\t\n1", true), ("+0y", true), ("000t", true), ("", false), ("0", false), ("NO", false),
    ("abc", false), ("0x10", false), ("nan", false), (".5", false), ("+ 1", false),
    ("+-1", false), ("0 1", false), ("false", false), ("on", false), ("٤", false),
  ])
  func aTextIsTrueWhenItBeginsLikeYesTrueOrANumberThatIsNotZero(text: String, flag: Bool) {
    store(.string(text))
    #expect(local.bool(forKey: "k") == flag)
    #expect(cloud.bool(forKey: "k") == flag)
  }

  @Test(
    arguments: [
      (1, true), (-1, true), (0, false), (1.0, true), (0.25, true), (0.0, false),
      (.real(-0.0), false),
      (.real(.nan), true), (true, true), (false, false), ([1], false), (["a": 1], false),
      (.data(Data([1])), false), (.date(Date()), false),
    ] as [(StoredValue, Bool)])
  func aNumberIsTrueWhenItIsNotZeroAndOtherTypesAreFalse(value: StoredValue, flag: Bool) {
    store(value)
    #expect(local.bool(forKey: "k") == flag)
    #expect(cloud.bool(forKey: "k") == flag)
  }

  @Test(
    arguments: [
      (42, 42), (3.99, 3), (.real(-3.99), -3), (true, 1), (false, 0), (.real(.nan), 0),
      (.real(.infinity), .max), (.real(-.infinity), .min), (1e300, .max), (.real(-1e300), .min),
      (.real(0x1p63), .max), (.real(-0x1p63), .min), (.real(0x1p62), 1 << 62),
      ("12.9", 12), ("-12abc", -12), ("1e3", 1), ("0x10", 0), ("abc", 0), ("", 0), ("+7", 7),
      ("\n\t 5", 5), ("\u{a0}5", 5), ("- 5", 0), ("--5", 0), ("٤", 0), ("007", 7),
      ("9223372036854775807", .max), ("9223372036854775808", .max),
      ("-9223372036854775808", .min), ("-9223372036854775809", .min),
      ("99999999999999999999999999", .max),
      ([1], 0), (["a": 1], 0), (.data(Data([1])), 0), (.date(Date()), 0),
    ] as [(StoredValue, Int)])
  func anIntegerIsCutAndSaturates(value: StoredValue, number: Int) {
    store(value)
    #expect(local.integer(forKey: "k") == number)
    #expect(cloud.longLong(forKey: "k") == Int64(number))
  }

  @Test(
    arguments: [
      (2.5, 2.5), (42, 42), (true, 1), (false, 0), (.real(.infinity), .infinity),
      ("3.5e2xyz", 350), (".5", 0.5), ("1,5", 1), ("Infinity", 0), ("nan", 0), ("", 0), ("abc", 0),
      ("0x10", 0), (" -1.5E-1", -0.15), ("+2.", 2), (".", 0), ("-.5", -0.5), ("1e", 1), ("1e+x", 1),
      ("1.5.2", 1.5), ("1e400", .infinity), ("-1e400", -.infinity), ("1e-400", 0), ("e5", 0),
      ("\n7", 7), ("- 7", 0), ("0.1", 0.1), ("9007199254740993", 9_007_199_254_740_992),
      ([1], 0), (["a": 1], 0), (.data(Data([1])), 0), (.date(Date()), 0),
    ] as [(StoredValue, Double)])
  func aDoubleIsADecimalPrefix(value: StoredValue, number: Double) {
    store(value)
    #expect(local.double(forKey: "k") == number)
    #expect(cloud.double(forKey: "k") == number)
    #expect(local.float(forKey: "k") == Float(number))
  }

  @Test(
    arguments: [
      ("text", "text"), ("", ""), (42, "42"), (.integer(.min), "-9223372036854775808"),
      (true, "1"), (false, "0"), (12.34, "12.34"), (100.0, "100"), (0.1, "0.1"), (1e21, "1e+21"),
      (0.0, "0"), (.real(-0.0), "0"), (-2.0, "-2"), (1e15, "1000000000000000"), (1e-7, "1e-07"),
      (.real(.nan), "nan"), (.real(.infinity), "inf"), (.real(-.infinity), "-inf"),
      (["a"], nil), (["a": 1], nil), (.data(Data("a".utf8)), nil), (.date(Date()), nil),
    ] as [(StoredValue, String?)])
  func aStringIsTextOrANumberAsText(value: StoredValue, text: String?) {
    store(value)
    #expect(local.string(forKey: "k") == text)
    #expect(cloud.string(forKey: "k") == text)
  }

  @Test(
    arguments: [
      "text", 1, 1.5, true, .date(Date()), .data(Data([1])), ["a", 1], ["a": [1]],
    ] as [StoredValue])
  func arraysDictionariesAndDataAreExactlyThat(value: StoredValue) {
    store(value)
    for store in [local, cloud] as [SettingsStore] {
      #expect(
        store.array(forKey: "k").map(StoredValue.array) == (value.kind == .array ? value : nil))
      let members = store.dictionary(forKey: "k").map(StoredValue.dictionary)
      #expect(members == (value.kind == .dictionary ? value : nil))
      #expect(store.data(forKey: "k").map(StoredValue.data) == (value.kind == .data ? value : nil))
      #expect(store.object(forKey: "k") == value)
    }
  }

  @Test(
    arguments: [
      (["a", "b"], ["a", "b"]), ([], []), (["a", 1], nil), ([1], nil), ([["a"]], nil), ("a", nil),
      (["a": "b"], nil),
    ] as [(StoredValue, [String]?)])
  func aStringArrayHasOnlyStrings(value: StoredValue, strings: [String]?) {
    store(value)
    #expect(local.stringArray(forKey: "k") == strings)
  }

  @Test func absenceIsNilOrZeroAndOnlyObjectTellsIt() {
    for store in [local, cloud] as [SettingsStore] {
      #expect(store.object(forKey: "none") == nil)
      #expect(store.string(forKey: "none") == nil && store.data(forKey: "none") == nil)
      #expect(store.array(forKey: "none") == nil && store.dictionary(forKey: "none") == nil)
      #expect(store.double(forKey: "none") == 0 && !store.bool(forKey: "none"))
      store.set(0, forKey: "zero")
      #expect(store.object(forKey: "zero") == 0)
      #expect(store.failures.isEmpty)
    }
    #expect(local.integer(forKey: "none") == 0 && local.float(forKey: "none") == 0)
    #expect(local.stringArray(forKey: "none") == nil && local.url(forKey: "none") == nil)
    #expect(cloud.longLong(forKey: "none") == 0)
  }

  @Test func anotherTypeIsNoFailureButAValueOfANewerVersionIs() {
    store("text")
    #expect(local.data(forKey: "k") == nil && local.failures.isEmpty)
    let newer = StoredValue.opaque(OpaqueValue(TaggedCell(tag: 99, cell: .integer(5))))
    store(newer)
    // From now on it is known.
    #expect(local.object(forKey: "k") == newer && cloud.object(forKey: "k") == newer)
    for _ in 0..<3 {
      #expect(local.integer(forKey: "k") == 0 && local.string(forKey: "k") == nil)
      #expect(local.array(forKey: "k") == nil && !cloud.bool(forKey: "k"))
    }
    #expect(local.failures.map(\.operation) == [.read] && cloud.failures.map(\.key) == ["k"])
  }
}
