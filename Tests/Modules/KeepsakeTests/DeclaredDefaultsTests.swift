// SPDX-License-Identifier: Apache-2.0
//
// The default of a property is the last layer of its store for whoever reads by key.

import Foundation
import Keepsake
import SettingsFixture
import Synchronization
import TestSupport
import Testing

private final class Defaulted: UserDefaultsStore, @unchecked Sendable {
  @Setting var bool = true
  @Setting("nbr") var number = 5
  @Setting var tags = ["a"]
  @Setting var nickname: String?
  @Setting var big = UInt64.max
}

/// Of one test alone.
private final class Counted: UserDefaultsStore, @unchecked Sendable {
  @Setting(by: countedEncoding) var counted = 1
}

private let encodings = Mutex(0)
private let countedEncoding = Transformer<Int>(
  fromBackingStore: { (number: Int) in number },
  toBackingStore: { number in
    encodings.withLock { $0 += 1 }
    return number
  })

private final class Ticks: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

private final class Computed: UserDefaultsStore, @unchecked Sendable {
  static let ticks = Ticks()
  @Setting(default: { ticks.next() }) var tick: Int
  @Setting("later", default: { Theme(name: "dark") }) var theme: Theme
  @Setting("color", default: { Color(1, 2, 3) }, by: .hexColor) var color: Color
}

@Suite struct DeclaredDefaultsTests {
  private let settings: Defaulted

  init() throws { settings = try Defaulted(on: .inMemory(), arguments: .none) }

  @Test(arguments: Samples.all)
  func whatAKeyGivesIsThePropertysValue(sample: Sample) throws {
    let settings = try EverySetting(on: .inMemory())
    let key = ["loginCount": "nbr_logins", "nickname": "nick"][sample.name] ?? sample.name
    func check() throws {
      let value = settings[key]
      let copy = try EverySetting(on: .inMemory())
      copy[key] = value
      #expect(sample.read(copy) == sample.read(settings))
      #expect(try settings.read(key) == value && settings.object(forKey: key) == value)
      #expect(settings.dictionaryRepresentation()[key] == value)
      #expect(try settings.explain(key).inForce?.value == value)
      try settings.transaction { #expect(settings[key] == value) }
      #expect(try settings.update(key) { $0 } == value && settings[key] == value)
      #expect(settings.failures.isEmpty && copy.failures.isEmpty)
    }
    #expect((settings[key] == nil) == (sample.fallback == "nil"))
    try check()
    sample.assign(settings)
    try check()
    settings.removeObject(forKey: key)
    try check()
  }

  @Test func foundationsNamesConvertTheDefaultToo() throws {
    #expect(settings.bool(forKey: "bool") && settings.integer(forKey: "bool") == 1)
    #expect(settings.integer(forKey: "nbr") == 5 && settings.string(forKey: "nbr") == "5")
    #expect(settings.stringArray(forKey: "tags") == ["a"])
    #expect(settings.object(forKey: "nickname") == nil && settings.object(forKey: "none") == nil)
    #expect(settings.object(forKey: "number") == nil, "the property's name is not its key")
    let other = try UserDefaultsStore(on: settings.device, arguments: .none)
    #expect(other["bool"] == nil, "another store object declares nothing")
  }

  @Test func aChangeInPlaceBeginsWithIt() throws {
    let recorder = ChangeRecorder(settings)
    try settings.update("nbr") { value in
      #expect(value == 5)
      value = 6
    }
    func addB(_ value: inout StoredValue?) {
      if case .array(let tags)? = value { value = .array(tags + ["b"]) }
    }
    addB(&settings["tags"])
    #expect(settings.number == 6 && settings.tags == ["a", "b"] && settings.failures.isEmpty)
    // Observers are notified of entries, not of layers.
    #expect(recorder.all.map(\.old) == [nil, nil] && recorder.all.map(\.new) == [6, ["a", "b"]])
  }

  @Test func oneThatCannotBeStoredIsNoValueAndNoFailure() throws {
    #expect(settings["big"] == nil && settings.string(forKey: "big") == nil)
    #expect(settings.dictionaryRepresentation()["big"] == nil && settings.failures.isEmpty)
    guard case .declared(_?) = try settings.explain("big").inForce?.source else {
      Issue.record("what is wrong with a default is told")
      return
    }
  }

  @Test func itIsEncodedOnceAndOnlyWhenItIsRead() throws {
    let settings = try Counted(on: .inMemory(), arguments: .none)
    #expect(settings.counted == 1 && encodings.withLock { $0 } == 0)
    for _ in 0..<9 { #expect(settings["counted"] == 1) }
    #expect(encodings.withLock { $0 } == 1)
  }

  @Test func aComputedDefaultIsComputedUntilAValueIsStored() throws {
    let settings = try Computed(on: .inMemory(), arguments: .none)
    let first = settings.tick
    #expect(settings.tick == first + 1 && settings["tick"] == .integer(Int64(first + 2)))
    #expect(try settings.device.entry(store: "defaults", key: "tick") == nil)
    #expect(settings.theme == Theme(name: "dark") && settings.color == Color(1, 2, 3))
    settings.tick = 0
    #expect(settings.tick == 0 && settings.tick == 0)
    try settings.$tick.reset()
    #expect(settings.tick == first + 3)
    try settings.$tick.update { $0 += 100 }
    #expect(settings.tick == first + 104 && settings["tick"] == .integer(Int64(first + 104)))
    #expect(settings.failures.isEmpty)
  }

  @Test func keysOfOneTypeAreEqualByTheirNames() {
    let keys: Set<SettingKey<Int>> = [
      SettingKey("a", default: 1), SettingKey("a", default: 2), SettingKey("b", default: 1),
      SettingKey("é", default: 1), SettingKey("e\u{301}", default: 1),
    ]
    #expect(keys.count == 4)
  }
}
