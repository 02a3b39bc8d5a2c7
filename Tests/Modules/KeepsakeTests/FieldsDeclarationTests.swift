// SPDX-License-Identifier: Apache-2.0
//
// A structure that is stored member by member: which ones can be, and what a store tells of them.

import Foundation
import Keepsake
import TestSupport
import Testing

private struct Preferences: Codable {
  var name = "guest"
  var volume = 5
  var nick: String?
}

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting var sound = true
  @Setting(fields: "prefs.") var prefs = Preferences()
  let more = Setting(wrappedValue: Preferences(name: "more", nick: "n"), fields: "more ")
}

/// A class with one such setting.
private final class Single<Value: Codable & Sendable>: UserDefaultsStore, @unchecked Sendable {
  let value: Setting<Value>
  @Setting var volume = 1

  init(_ value: Value, _ prefix: String = "value.") throws {
    self.value = Setting(wrappedValue: value, fields: prefix)
    try super.init(on: .inMemory(), arguments: .none)
  }
}

private struct Empty: Codable {}
private enum Associated: Codable { case one(Int), two }
private enum Raw: String, Codable { case one, two }
private struct Broken: Codable { var number: UInt64 = .max }
private struct Unnamed: Codable {
  var value = 1
  enum CodingKeys: String, CodingKey { case value = "" }
}
private final class Object: Codable, Sendable {
  let number: Int
  init(number: Int) { self.number = number }
}

/// Encodes what it does not decode, and leaves out what is as it should be.
private struct Custom: Codable, Equatable {
  var number = 1, text = ""
  var old: Bool?
  init(number: Int = 1, text: String = "") { (self.number, self.text) = (number, text) }

  enum CodingKeys: String, CodingKey { case number, text, old, note, late }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    number = try members.decodeIfPresent(Int.self, forKey: .number) ?? 1
    text = try members.decode(String.self, forKey: .text)
    old = try members.decodeIfPresent(Bool.self, forKey: .old)
  }

  func encode(to encoder: any Encoder) throws {
    if number == 0 {
      var single = encoder.singleValueContainer()
      return try single.encode("none")
    }
    var members = encoder.container(keyedBy: CodingKeys.self)
    if number != 1 { try members.encode(number, forKey: .number) }
    try members.encode(text, forKey: .text)
    try members.encode("for others", forKey: .note)
    if text == "late" { try members.encode(1, forKey: .late) }
  }
}

/// Members that need each other.
private struct Span: Codable, Equatable {
  var from = 0, to = 10, step = 1
  init() {}

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    from = try members.decode(Int.self, forKey: .from)
    to = try members.decode(Int.self, forKey: .to)
    step = try members.decode(Int.self, forKey: .step)
    guard from <= to else { throw ValueError(.invalid, "from is after to; swap them") }
  }
}

@Suite struct FieldsDeclarationTests {
  private func refusal(_ body: () throws -> some SettingsStore) -> String? {
    #expect(throws: SettingDeclarationError.self) { try body() }?.description
  }

  @Test func whatCannotBeStoredSoIsRefusedAtOnce() {
    func expect<Value: Codable & Sendable>(_ value: Value, _ text: String, prefix: String = "v.") {
      let refusal = refusal { try Single(value, prefix) } ?? ""
      let start = ">: the setting \"value\" cannot be stored member by member: "
      #expect(refusal.hasPrefix("Single<") && refusal.hasSuffix(start + text), "\(refusal)")
    }
    expect(5, "Int encodes no members but one value, of type integer; declare it without fields")
    expect(
      [1], "Array<Int> encodes no members but one value, of type array; declare it without fields")
    expect(
      Raw.one, "Raw encodes no members but one value, of type string; declare it without fields")
    expect(Empty(), "Empty has no members; declare it without fields")
    expect(
      ["a": 1],
      "the members of Dictionary<String, Int> differ from value to value, as those of a dictionary;"
        + " declare it without fields")
    for value in [Associated.one(1), .two] {
      expect(
        value,
        "the members of Associated differ from value to value, as those of a dictionary; "
          + "declare it without fields")
    }
    for value in [Preferences(), nil] {
      expect(
        value,
        "Optional<Preferences> is an optional, and nil has no members; make its members optional")
    }
    expect(
      Object(number: 1),
      "Object is a class, so the store cannot know when a member changes; make it a structure")
    expect(Unnamed(), "the key of a member is empty; give a prefix", prefix: "")
    #expect(
      refusal { try Single(Broken()) }?.contains("default cannot be stored: at number: ") == true)
  }

  @Test func aKeyThatAnotherSettingHasIsRefused() throws {
    #expect(
      refusal { try Single(Preferences(), "") }
        == "Single<Preferences>: two settings have the key \"volume\";"
        + " give each a key of its own")
    #expect(try Single(Span(), "").value.wrappedValue == Span())
    final class Twice: UserDefaultsStore, @unchecked Sendable {
      @Setting(fields: "a.") var one = Preferences()
      @Setting(fields: "a.") var two = Preferences()
    }
    #expect(
      refusal { try Twice(on: .inMemory()) }?.contains("two settings have the key \"a.name\"")
        == true)
  }

  @Test func aKeyThatIsTooLongForTheStoreIsRefused() throws {
    let prefix = String(repeating: "p", count: 1_024 - "volume".utf8.count)
    let longest = try Single(Preferences(), prefix)
    longest.value.wrappedValue.volume = 1
    #expect(longest.failures.isEmpty && longest.value.wrappedValue.volume == 1)
    #expect(
      refusal { try Single(Preferences(), prefix + "p") }?
        .contains("longer than 1024 bytes") == true)
  }

  @Test func aValueOfAnotherShapeIsNotWritten() throws {
    let store = try Single(Custom())
    store.value.wrappedValue = Custom(number: 2, text: "t")
    #expect(store["value.number"] == 2 && store["value.text"] == "t")
    let entries = try UserDefaultsStore(on: store.device, arguments: .none)
    #expect(entries["value.note"] == nil, "it does not differ")
    store.value.wrappedValue.number = 1
    #expect(entries["value.number"] == nil && store.value.wrappedValue == Custom(text: "t"))
    #expect(throws: SettingFailure.self) { try store.value.write(Custom(number: 0, text: "x")) }
    store.value.wrappedValue = Custom(number: 5, text: "late")
    store.value.wrappedValue.text = "late"
    #expect(store.value.wrappedValue == Custom(text: "t"))
    #expect(
      store.failures.map(\.description)
        == Array(
          repeating: "defaults/value.: the setting could not be written: "
            + "this value encodes a member \"late\" that the default's coding did not ask for; "
            + "decode it in every init(from:)", count: 2))
  }

  @Test func membersThatNeedEachOtherAreReadTogether() throws {
    let store = try Single(Span())
    (store["value.from"], store["value.to"]) = (50, 60)
    #expect(try store.value.read().from == 50)
    store["value.step"] = "wrong"
    #expect(store.value.wrappedValue.from == 50 && store.value.wrappedValue.to == 60)
    #expect(store.failures.map(\.key) == ["value.step"])
    store["value.step"] = 2
    store["value.to"] = 40
    #expect(store.value.wrappedValue.from == 0 && store.value.wrappedValue.to == 40)
    #expect(store.failures.map(\.key) == ["value.step", "value.from"])
  }

  @Test func aWriteBeyondALimitLeavesEveryMember() throws {
    final class Shared: CloudKeyValueStore, @unchecked Sendable {
      @Setting(fields: "p.") var prefs = Preferences()
    }
    let long = String(repeating: "x", count: 1 << 20 + 1)
    let shared = try Shared(on: .inMemory())
    shared.prefs.name = long
    shared.prefs = Preferences(volume: 6, nick: long)
    #expect(shared.failures.map(\.key) == ["p.name", "p.nick"])
    #expect(shared.prefs.volume == 5 && shared.prefs.name == "guest")
    let error = #expect(throws: KeepsakeError.self) {
      try shared.transaction {
        shared.prefs.volume = 1
        shared.prefs.name = long
      }
    }
    #expect(error?.code == .invalidValue && shared.prefs.volume == 5)
  }

  @Test func membersAreThoseThatAreDecodedThenThoseThatAreOnlyEncoded() throws {
    #expect(try Local(on: .inMemory(), arguments: .none).$prefs.key() == "prefs.")
    #expect(
      try Single(Custom()).value.explain().members.map(\.key)
        == ["value.number", "value.text", "value.old", "value.note"])
  }

  @Test func eachMemberIsComparedWithTheBundle() throws {
    let local = try Local(on: .inMemory(), arguments: .none)
    let small = try SmallBundle("prefs.volume", default: 14)
    let found = local.differences(from: try SettingsBundle(at: small.url))
    #expect(found.map(\.kind) == Array(repeating: .noSpecifier, count: 6))
    #expect(!found.map(\.key).contains("prefs.volume"))
    let wrong = try SmallBundle("prefs.name", default: 14)
    #expect(
      local.differences(from: try SettingsBundle(at: wrong.url)).first { $0.key == "prefs.name" }?
        .description.contains("cannot read what this row stores: at name: ") == true)
  }

  @Test func eachMemberIsExplained() throws {
    let local = try Local(
      on: .inMemory(), arguments: LaunchArguments(["", "-prefs.volume", "loud"]))
    #expect(try !local.$prefs.isDefault && local.more.isDefault)
    let explanation = try local.$prefs.explain()
    #expect(explanation.key == "prefs." && explanation.layers.isEmpty)
    #expect(explanation.members.map(\.key) == ["prefs.name", "prefs.volume", "prefs.nick"])
    #expect(explanation.members.map { $0.problem == nil } == [true, false, true])
    #expect(
      "\(explanation)" == """
        "prefs.name" in "defaults": "guest"
        * default of the property: "guest"
        "prefs.volume" in "defaults": "loud"
        * argument 1: "loud"
          default of the property: 5
          the setting returns its default, because it cannot read this value: at volume: \
        the stored value is of type string, not integer; read it with its own type, or set it again
        "prefs.nick" in "defaults": no value
        * default of the property: no value
        """)
  }
}
