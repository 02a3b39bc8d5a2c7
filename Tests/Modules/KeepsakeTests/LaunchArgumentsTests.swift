// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Testing

private enum Quality: Int, BackingStoreConvertible { case low = 1, high = 2 }

private final class ArgumentSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var volume = 3
  @Setting var small: UInt8 = 1
  @Setting var ratio = 1.0
  @Setting var dark = false
  @Setting var name = "guest"
  @Setting var nickname: String?
  @Setting var maybe: Int?
  @Setting var quality = Quality.low
  @Setting var since = Date.distantPast
  @Setting var list: [String] = []
  @Setting var table: [String: Int] = [:]
  @Setting var bytes = Data()
  @Setting var any: StoredValue = "none"
  @Setting(fromBackingStore: { (n: Int) in n * 2 }, toBackingStore: { $0 / 2 }) var twice = 0
}

@Suite struct LaunchArgumentsTests {
  private static func settings(_ words: String...) throws -> ArgumentSettings {
    try ArgumentSettings(on: .inMemory(), arguments: LaunchArguments(["program"] + words))
  }

  private static func values(_ words: String...) throws -> [String: StoredValue] {
    try UserDefaultsStore(on: .inMemory(), arguments: LaunchArguments(["program"] + words))
      .dictionaryRepresentation()
  }

  @Test func aPairIsAKeyWithADashAndAValueWithout() throws {
    #expect(try Self.values("-a", "1", "-b", "two") == ["a": "1", "b": "two"])
    #expect(try Self.values("word", "-a", "1", "word", "-b", "2") == ["a": "1", "b": "2"])
    #expect(try Self.values("-a", "-b", "2") == ["b": "2"])
    #expect(try Self.values("-a", "1", "-b") == ["a": "1"])
    #expect(try Self.values("-a", "") == ["a": ""])
    #expect(try Self.values("-a", "1", "-a", "2") == ["a": "2"])
    #expect(try Self.values("-a.b c", "x=y") == ["a.b c": "x=y"])
    #expect(try Self.values() == [:])
  }

  @Test func theProgramsNameIsNoKey() throws {
    for words in [["-a", "1"], ["-a"], []] {
      let store = try UserDefaultsStore(on: .inMemory(), arguments: LaunchArguments(words))
      #expect(store.dictionaryRepresentation() == [:])
    }
  }

  @Test func whatIsForTheProgramIsLeftToIt() throws {
    #expect(try Self.values("--a", "1", "--", "x", "-", "y", "--b=1", "-c", "--d") == [:])
    #expect(try Self.values("--a", "-b", "1") == ["b": "1"])
    #expect(try Self.values("-a", "1", "--", "-b", "2") == ["a": "1"])
  }

  @Test(arguments: [
    ("", ""), ("-a 1", ""), ("x -a 1 y", "x y"), ("--v -a 1 -f", "--v -f"), ("-f -a 1", "-f"),
    ("-a 1 -a 2 z", "z"), ("-a -5 -6", "-6"), ("-a 1 -- -a 2 x", "-- -a 2 x"), ("-a --", "-a --"),
    ("--", "--"), ("-", "-"), ("-a - -b", "-a - -b"),
  ])
  func whatIsNoSettingRemainsInItsOrder(words: String, rest: String) {
    let words = words.split(separator: " ").map(String.init)
    let arguments = LaunchArguments(["program"] + words)
    #expect(arguments.remaining.joined(separator: " ") == rest)
    #expect(LaunchArguments(["program"] + words, keys: []).remaining == words)
    #expect(LaunchArguments([]).remaining == [])
  }

  @Test func pairsWithOtherKeysRemain() throws {
    let arguments = LaunchArguments(
      ["program", "-o", "file", "-a", "1", "-b.c", "2"], keys: ["a", "b"])
    let store = try UserDefaultsStore(on: .inMemory(), arguments: arguments)
    #expect(store.dictionaryRepresentation() == ["a": "1"])
    #expect(arguments.remaining == ["-o", "file", "-b.c", "2"])
    let prefixed = LaunchArguments(["program", "-o", "f", "-b.c", "2"], keys: .prefix("b."))
    #expect(prefixed.remaining == ["-o", "f"])
  }

  @Test(arguments: ["-5", "-0.5", "-.5", "-1e3", "-1.5E-3"])
  func aNegativeNumberIsAValueAndNoKey(number: String) throws {
    #expect(try Self.values("-offset", number) == ["offset": .string(number)])
    #expect(try Self.values(number, "x") == [:])
    #expect(try Self.settings("-ratio", number).ratio == Double(number))
  }

  @Test(arguments: ["-5x", "-", "-1.", "-0x5", "-e3", "-٥"])
  func whatIsNoWholeNumberIsNoValue(word: String) throws {
    #expect(try Self.values("-offset", word)["offset"] == nil)
  }

  @Test func aStructuredValueIsJSON() throws {
    let date = Date(timeIntervalSinceReferenceDate: 0)
    let readings: [(String, StoredValue)] = [
      (#"{"a":[1,2.5,true]}"#, ["a": [1, 2.5, true]]), ("[]", []), (#""5""#, "5"),
      (#"{"$date":0}"#, .date(date)), (#""é""#, "é"),
      (#"{"$data":"AQI="}"#, .data(Data([1, 2]))),
    ]
    for (text, value) in readings {
      #expect(try Self.values("-k", text) == ["k": value], "\(text)")
    }
  }

  @Test(arguments: [
    "{a=1;}", "[1,", "[null]", "{\"$x\":1}", "\"", "<", "<true/>", "<0fbd77>", "(1, two)", " [1]",
    String(repeating: "[", count: 101) + String(repeating: "]", count: 101),
  ])
  func whatDoesNotParseIsText(text: String) throws {
    let store = try Self.settings("-k", text)
    #expect(store["k"] == .string(text))
    #expect(try store.explain("k").inForce?.source == .argument(position: 1))
  }

  @Test func aTypedSettingReadsTextAsItsOwnType() throws {
    let settings = try Self.settings(
      "-volume", "5", "-ratio", "1.5", "-dark", "YES", "-name", "7", "-nickname", "1",
      "-maybe", "-4", "-quality", "2", "-since", "2001-01-01", "-any", "5", "-twice", "21",
      "-small", "255")
    #expect(settings.volume == 5 && settings.ratio == 1.5 && settings.dark)
    #expect(settings.name == "7" && settings.nickname == "1" && settings.maybe == -4)
    #expect(settings.quality == .high && settings.any == "5" && settings.twice == 42)
    #expect(settings.since == Date(timeIntervalSinceReferenceDate: 0) && settings.small == 255)
    #expect(try Self.settings("-ratio", "2").ratio == 2)
    #expect(settings.failures.isEmpty)
  }

  @Test(arguments: [
    ("YES", true), ("yes", true), ("True", true), ("1", true), ("NO", false), ("false", false),
    ("0", false),
  ])
  func aBooleanHasSixNames(text: String, flag: Bool) throws {
    let settings = try Self.settings("-dark", text)
    settings.dark = !flag
    #expect(try settings.$dark.read() == flag)
  }

  @Test func structuredValuesHaveTheirType() throws {
    let settings = try Self.settings(
      "-list", #"["a","b"]"#, "-table", #"{"a":1}"#, "-bytes", #"{"$data":"AQI="}"#)
    #expect(settings.list == ["a", "b"] && settings.table == ["a": 1])
    #expect(settings.bytes == Data([1, 2]) && settings.failures.isEmpty)
    // Who quotes a number means text.
    #expect(try Self.settings("-volume", #""5""#).volume == 3)
  }

  @Test(arguments: [
    ("volume", "five"), ("volume", "5.5"), ("volume", "5 "), ("volume", ""), ("volume", "0x5"),
    ("volume", "YES"), ("ratio", "nan"), ("ratio", "1,5"), ("ratio", "1e999"), ("dark", "2"),
    ("dark", "YESS"), ("small", "256"), ("quality", "3"), ("since", "2001-02-30"), ("list", "a"),
    ("volume", "9223372036854775808"),
  ])
  func textThatIsNotOfTheTypeIsReportedAndGivesTheDefault(key: String, text: String) throws {
    let settings = try Self.settings("-\(key)", text)
    settings.set(1, forKey: key)
    for _ in 0..<2 {
      _ = (settings.volume, settings.ratio, settings.dark, settings.small, settings.quality)
      _ = (settings.since, settings.list)
    }
    #expect(settings.volume == 3 && settings.ratio == 1 && !settings.dark && settings.small == 1)
    let failure = try #require(settings.failures.first)
    #expect(settings.failures.count == 1)
    #expect(failure.key == key && failure.operation == .read && failure.argument == 1)
    #expect("\(failure)".contains("defaults/\(key): the setting could not be read from launch"))
    #expect("\(failure)".contains("argument 1: "))
  }

  @Test func theErrorOfTheFittingTypeIsReported() throws {
    let settings = try Self.settings("-small", "256", "-volume", "five")
    let range = try #require(throws: SettingFailure.self) { try settings.$small.read() }
    #expect((range.cause as? ValueError)?.code == .invalid)
    let kind = try #require(throws: SettingFailure.self) { try settings.$volume.read() }
    #expect((kind.cause as? ValueError)?.code == .typeMismatch && kind.storedType == .string)
  }

  @Test func anArgumentStandsOverWhatIsSetAndIsNeverWritten() throws {
    let device = try Device.inMemory()
    let arguments = LaunchArguments(["program", "-volume", "5"])
    let settings = try ArgumentSettings(on: device, arguments: arguments)
    settings.volume = 8
    #expect(settings.volume == 5 && settings.integer(forKey: "volume") == 5)
    try settings.$volume.update { $0 += 1 }
    #expect(settings.volume == 5)
    let plain = try ArgumentSettings(on: device, arguments: .none)
    #expect(plain.volume == 6)
    try settings.$volume.reset()
    #expect(settings.volume == 5 && plain.volume == 3)
    #expect(try device.stores().isEmpty)
  }

  @Test func suitesSeeTheArgumentsAndTravellingSettingsDoNot() throws {
    let device = try Device.inMemory()
    let arguments = LaunchArguments(["program", "-k", "1"])
    #expect(
      try UserDefaultsStore(on: device, suite: "s", arguments: arguments).integer(forKey: "k") == 1)
    #expect(try CloudKeyValueStore(on: device).object(forKey: "k") == nil)
  }

  @Test func aProcessHasItsOwn() throws {
    let words = CommandLine.arguments
    let own = try UserDefaultsStore(on: .inMemory()).dictionaryRepresentation()
    let same = try UserDefaultsStore(on: .inMemory(), arguments: LaunchArguments(words))
    #expect(own == same.dictionaryRepresentation())
  }
}
