// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import SettingsFixture
import TestSupport
import Testing

extension SettingKey where Value == Int {
  fileprivate static var volume: Self { Self("volume", default: 5) }
  fileprivate static var nameless: Self { Self("", default: 5) }
}

extension SettingKey where Value == String? {
  fileprivate static var nickname: Self { Self("nick") }
}

extension SettingKey where Value == Color {
  fileprivate static var accent: Self {
    Self("accent", default: Color(0, 0, 255), by: .hexColor)
  }
}

extension SettingKey where Value == Color? {
  fileprivate static var tint: Self { Self("tint", by: .hexColor) }
}

extension SettingKey where Value == [Color] {
  fileprivate static var palette: Self { Self("palette", default: [], by: .hexColor.array()) }
}

private class KeyedSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting(.volume) var loudness: Int
  @Setting(.nickname) var nickname: String?
  @Setting(.accent) var accent: Color
  let tint = Setting(.tint)
}

private final class MoreSettings: KeyedSettings, @unchecked Sendable {
  @Setting("own") var mine = Date.distantPast
  let cache = 1
  @Setting var big = UInt64.max
}

@Suite struct SettingKeyTests {
  private let settings: KeyedSettings

  init() throws {
    settings = try KeyedSettings(on: .inMemory(), arguments: .none)
  }

  @Test func aSettingOfAStoreIsWhatAPropertyWouldBe() throws {
    let volume = try settings.setting(.volume)
    #expect(volume.wrappedValue == 5)
    #expect(try volume.key() == "volume" && volume.isDefault)
    volume.wrappedValue = 7
    #expect(settings.loudness == 7 && settings["volume"] == 7)
    try volume.update { $0 += 1 }
    #expect(try volume.increment() == 9 && volume.read() == 9)
    #expect(try volume.explain() == settings.$loudness.explain())
    settings.loudness = 1
    #expect(volume.wrappedValue == 1)
    settings["volume"] = "loud"
    #expect(volume.wrappedValue == 5 && settings.failures.map(\.key) == ["volume"])
    #expect(throws: SettingFailure.self) { try volume.read() }
    try volume.reset()
    #expect(try volume.isDefault && settings["volume"] == 5)
    settings.register(defaults: ["volume": 2])
    #expect(volume.wrappedValue == 2)
  }

  @Test func optionalsAndTransformersAreKeysToo() throws {
    let nickname = try settings.setting(.nickname)
    #expect(nickname.wrappedValue == nil)
    nickname.wrappedValue = "n"
    #expect(settings.nickname == "n" && settings["nick"] == "n")
    nickname.wrappedValue = nil
    #expect(settings["nick"] == nil)
    let accent = try settings.setting(.accent)
    accent.wrappedValue = Color(255, 0, 0)
    #expect(settings.accent == Color(255, 0, 0) && settings["accent"] == "#ff0000")
    let tint = try settings.setting(.tint)
    settings.tint.wrappedValue = Color(1, 2, 3)
    #expect(tint.wrappedValue == Color(1, 2, 3))
    try tint.write(nil)
    #expect(settings.tint.wrappedValue == nil && settings["tint"] == nil)
    #expect(try settings.setting(.palette).read() == [])
  }

  @Test func aStoreIsSubscriptedByAKeyAsByAProperty() throws {
    let store = try UserDefaultsStore(on: settings.device, arguments: .none)
    #expect(store[.volume] == 5)
    store[.volume] += 2
    #expect(settings.loudness == 7 && store["volume"] == 7)
    settings.loudness = 1
    #expect(store[.volume] == 1)
    store[.nickname] = "n"
    #expect(settings.nickname == "n")
    store[.nickname] = nil
    #expect(store["nick"] == nil && store[.nickname] == nil)
    store[.palette].append(Color(1, 2, 3))
    #expect(store[.palette] == [Color(1, 2, 3)] && store["palette"] == ["#010203"])
    store[SettingKey("inline", default: 3)] = 4
    #expect(store["inline"] == 4)
    #expect(store.failures.isEmpty)
  }

  @Test func whatAKeyCannotReadStaysAndIsReported() throws {
    let store = try UserDefaultsStore(on: settings.device, arguments: .none)
    store["volume"] = "loud"
    #expect(store[.volume] == 5 && store[.volume] == 5)
    #expect(store.failures.map(\.operation) == [.read])
    store[.volume] += 1
    #expect(store["volume"] == "loud")
    #expect(store.failures.map(\.operation) == [.read, .write])
    store[.nameless] = 1
    #expect(store.failures.map(\.key) == ["volume", "volume", ""])
    #expect(throws: SettingFailure.self) { try store.transaction { store[.volume] += 1 } }
  }

  @Test func aRawKeyStillHoldsAStoredValue() {
    settings["volume"] = 7
    settings["raw"] = ["a": [1, true, 2.5]]
    let raw = settings["volume"]
    #expect(raw == .integer(7))
    if case .integer(let number)? = settings["volume"] { #expect(number == 7) }
    settings["\(7)x"] = .string("s")
    settings["raw"] = nil
    #expect(settings["7x"] == "s" && settings["raw"] == nil)
  }

  @Test func aKeyServesEveryStore() throws {
    let device = try Device.inMemory()
    let cloud = try CloudKeyValueStore(on: device).setting(.volume)
    let plain = try UserDefaultsStore(on: device, arguments: .none).setting(.volume)
    try cloud.write(1)
    #expect(try cloud.read() == 1 && plain.read() == 5)
    let argument = LaunchArguments(["program", "-volume", "8"])
    let argued = try UserDefaultsStore(on: device, arguments: argument)
    #expect(try argued.setting(.volume).read() == 8 && argued[.volume] == 8)
  }

  @Test func aSettingKeepsItsStoreOpen() throws {
    let volume: Setting<Int>
    do {
      volume = try UserDefaultsStore(on: .inMemory(), arguments: .none).setting(.volume)
    }
    try volume.write(3)
    #expect(try volume.read() == 3)
  }

  @Test func anEmptyKeyIsRefused() {
    final class Nameless: UserDefaultsStore, @unchecked Sendable {
      @Setting(.nameless) var volume: Int
    }
    let error = #expect(throws: SettingDeclarationError.self) { try settings.setting(.nameless) }
    #expect(error?.description == "KeyedSettings: the key of a setting is empty; give it one")
    #expect(throws: SettingDeclarationError.self) { try Nameless(on: .inMemory()) }
  }

  @Test func inheritedSettingsAreBoundToo() throws {
    let settings = try MoreSettings(on: .inMemory(), arguments: .none)
    (settings.loudness, settings.mine) = (9, .distantFuture)
    let again = try MoreSettings(on: settings.device, arguments: .none)
    #expect(again.loudness == 9 && again.mine == .distantFuture)
  }
}
