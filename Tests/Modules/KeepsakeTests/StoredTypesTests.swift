// SPDX-License-Identifier: Apache-2.0
//
// The tables "Values that people store" and "When a type changes" of Transformers.md: a case for
// each row. These rows have their tests elsewhere:
//
// - UInt64 above Int64.max: FoundationNamesTests.whatCannotBeStoredIsReportedAndLeavesWhatWasThere
// - Float: FurtherTypesTests.aFloatIsStoredAsTheRealOfItsText
// - the limits of a value: ValueLimitTests
// - sets: SetTests; dictionaries whose keys are texts: FurtherTypesTests
// - dictionaries with other keys: CodableTests.partsThatConformKeepTheirOwnForm
// - the types within a property list: MigrationTests
// - members of a newer version, by `fields:`: FieldsTests.membersOfANewerVersionStay

import Foundation
import Keepsake
import Testing

private enum Shape: Codable, Equatable {
  case circle(radius: Double)
  case label(String, size: Int)
  case empty
}

private enum Theme: String, BackingStoreConvertible { case light, dark }

private enum Level: String, Codable { case low, high }

private struct First: Codable, Equatable { var name = "guest" }

private struct Second: Codable, Equatable {
  var name = "guest"
  var volume = 5
}

private struct Lenient: Codable, Equatable {
  var name = "guest"
  var volume: Int?
}

/// A value, what the store holds of it, and that another store of the device reads the same.
struct StoredType: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let check: @Sendable () throws -> Void

  init<Value: Equatable & Sendable>(
    _ name: String, _ stored: StoredValue, _ value: Value, _ key: SettingKey<Value>
  ) {
    testDescription = name
    check = {
      let device = try Device.inMemory()
      try UserDefaultsStore(on: device, arguments: .none).setting(key).write(value)
      let other = try UserDefaultsStore(on: device, arguments: .none)
      #expect(other[key.name] == stored)
      #expect(try other.setting(key).read() == value)
    }
  }

  init<Value: BackingStoreConvertible & Equatable & Sendable>(
    _ name: String, _ stored: StoredValue, _ value: Value
  ) { self.init(name, stored, value, SettingKey("k", default: value)) }

  init<Value: Codable & Equatable & Sendable>(
    _ name: String, _ stored: StoredValue, codable value: Value
  ) { self.init(name, stored, value, SettingKey("k", default: value, by: .codable)) }

  static var all: [StoredType] {
    let date = Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7)
    let megabyte = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) })
    return [
      StoredType("date with a fraction", .date(date), date),
      StoredType("dates in an array", [.date(date)], [date]),
      StoredType("1 MB of data", .data(megabyte), megabyte),
      StoredType("1 MB of data in an array", [.data(megabyte)], [megabyte]),
      StoredType("infinity", .real(.infinity), Double.infinity),
      StoredType("empty text", "", ""),
      StoredType("empty array", [], [String]()),
      StoredType("empty dictionary", [:], [String: Int]()),
      StoredType("array of arrays", [[1], [], [2, 3]], [[1], [], [2, 3]]),
      StoredType("labelled case", ["circle": ["radius": 2.0]], codable: Shape.circle(radius: 2)),
      StoredType(
        "case without label", ["label": ["_0": "a", "size": 1]],
        codable: Shape.label("a", size: 1)),
      StoredType("case without members", ["empty": [:]], codable: Shape.empty),
      StoredType(
        "measurement",
        [
          "value": 5.5,
          "unit": ["symbol": "km", "converter": ["coefficient": 1000.0, "constant": 0.0]],
        ], codable: Measurement(value: 5.5, unit: UnitLength.kilometers)),
      StoredType(
        "locale", ["current": 0, "identifier": "de_CH"], codable: Locale(identifier: "de_CH")),
    ]
  }
}

/// A value that one version has stored, and what another one reads, which declares another type.
struct ChangedType: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let check: @Sendable () throws -> Void

  private init<Value: Equatable & Sendable>(
    _ name: String, _ stored: StoredValue, reads value: Value?, _ key: SettingKey<Value>
  ) {
    testDescription = name
    check = {
      let store = try UserDefaultsStore(on: .inMemory(), arguments: .none)
      store["k"] = stored
      #expect(store[key] == value ?? key.defaultValue)
      #expect(store.failures.map(\.storedType) == (value == nil ? [stored.kind] : []))
      if value == nil {
        #expect(throws: SettingFailure.self) { try store.setting(key).update { _ in } }
      }
      #expect(store["k"] == stored)
    }
  }

  /// - Parameter value: nil if the value cannot be read.
  init<Value: BackingStoreConvertible & Equatable & Sendable>(
    _ name: String, _ stored: StoredValue, reads value: Value?, default fallback: Value
  ) { self.init(name, stored, reads: value, SettingKey("k", default: fallback)) }

  init<Value: Codable & Equatable & Sendable>(
    _ name: String, _ stored: StoredValue, reads value: Value?, codable fallback: Value
  ) { self.init(name, stored, reads: value, SettingKey("k", default: fallback, by: .codable)) }

  static let all: [ChangedType] = [
    ChangedType("Int to Double", 5, reads: 5.0, default: 1.5),
    ChangedType("Int to Decimal", 5, reads: Decimal(5), default: Decimal(1)),
    ChangedType("Int to Duration", 5, reads: .seconds(5), default: Duration.seconds(1)),
    ChangedType("Int beyond Double", 9_007_199_254_740_993, reads: nil, default: 1.5),
    ChangedType("Double to Float", .real(0.123_456_789), reads: 0.123_456_789, default: Float(1)),
    ChangedType("Double beyond Float", .real(1e300), reads: nil, default: Float(1)),
    ChangedType("Double to Int", .real(5), reads: nil, default: 1),
    ChangedType("Int to Bool", 1, reads: nil, default: false),
    ChangedType("Int to String", 5, reads: nil, default: "guest"),
    ChangedType("String to Int", "5", reads: nil, default: 1),
    ChangedType("Int beyond Int8", 300, reads: nil, default: Int8(1)),
    ChangedType("String to enum", "dark", reads: .dark, default: Theme.light),
    ChangedType("String to enum without it", "sepia", reads: nil, default: Theme.light),
    ChangedType("enum to String", "dark", reads: "dark", default: "guest"),
    ChangedType("value to array", "a", reads: nil, default: ["b"]),
    ChangedType("case removed", ["square": ["side": 1]], reads: nil, codable: Shape.empty),
    ChangedType("key twice", ["low", 1, "low", 2], reads: nil, codable: [Level.low: 0]),
    ChangedType("member added", ["name": "ada"], reads: nil, codable: Second()),
    ChangedType(
      "optional member added", ["name": "ada"], reads: Lenient(name: "ada"), codable: Lenient()),
    ChangedType(
      "member removed", ["name": "ada", "volume": 9], reads: First(name: "ada"), codable: First()),
  ]
}

@Suite struct StoredTypesTests {
  private let store: UserDefaultsStore

  init() throws { store = try UserDefaultsStore(on: .inMemory(), arguments: .none) }

  @Test(arguments: StoredType.all)
  func aValueIsStoredInItsFormAndComesBack(type: StoredType) throws { try type.check() }

  @Test(arguments: ChangedType.all)
  func aValueOfAnotherTypeIsReadExactlyOrReported(type: ChangedType) throws { try type.check() }

  @Test func aNumberThatIsNoneComesBack() throws {
    let number = SettingKey("k", default: 1.5)
    store[number] = .nan
    #expect(try store.setting(number).read().isNaN && store.failures.isEmpty)
  }

  @Test func negativeZeroIsStoredAsZero() throws {
    store["number"] = .real(-0.0)
    store["numbers"] = [.real(-0.0)]
    let other = try UserDefaultsStore(on: store.device, arguments: .none)
    #expect(try other.setting(SettingKey("number", default: 1.5)).read().sign == .plus)
    #expect(try other.setting(SettingKey("numbers", default: [1.5])).read()[0].sign == .plus)
  }

  /// An array holds bytes as text, which is a third longer.
  @Test func aMegabyteIsTooLongForAnArrayOfAStoreThatSyncs() throws {
    let synced = try CloudKeyValueStore(on: store.device)
    let megabyte = Data(count: 1_000_000)
    synced.set(megabyte, forKey: "k")
    #expect(synced.data(forKey: "k") == megabyte && synced.failures.isEmpty)
    synced.set([megabyte], forKey: "k")
    #expect(synced.data(forKey: "k") == megabyte && synced.failures.map(\.operation) == [.write])
  }

  @Test func ofNestedOptionalsTheInnerNilCannotBeStored() throws {
    final class Nested: UserDefaultsStore, @unchecked Sendable {
      @Setting(by: .codable) var number: Int?? = nil
    }
    let nested = try Nested(on: store.device, arguments: .none)
    nested.number = .some(.some(5))
    #expect(nested["number"] == 5 && nested.number == .some(.some(5)))
    nested.number = .some(nil)
    #expect(nested["number"] == 5 && nested.failures.map(\.operation) == [.write])
    nested.number = nil
    #expect(nested["number"] == nil && nested.number == .none && nested.failures.count == 1)
  }

  @Test func aDictionaryOfAPropertyListIsReadAsStoredValues() throws {
    let table: [String: Any] = ["size": 12, "names": ["a", 1] as [Any], "flag": true]
    #expect(try store.migrate(from: ["table": table]) == [:])
    let key = SettingKey("table", default: [String: StoredValue]())
    #expect(store[key] == ["size": 12, "names": ["a", 1], "flag": true])
    #expect(store.failures.isEmpty)
  }

  @Test func anUnknownMemberOfOneValueIsLostWhenThatIsWritten() throws {
    store["k"] = ["name": "ada", "volume": 9]
    let older = try store.setting(SettingKey("k", default: First(), by: .codable))
    try older.update { _ in }
    #expect(store["k"] == ["name": "ada", "volume": 9])
    try older.update { $0.name = "bob" }
    #expect(store["k"] == ["name": "bob"] && store.failures.isEmpty)
  }
}
