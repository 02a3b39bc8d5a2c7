// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import SettingsFixture
import TestSupport
import Testing

@Suite struct RegisteredDefaultsTests {
  private let device: Device
  private let settings: EverySetting

  init() throws {
    device = try Device.temporary()
    settings = try EverySetting(on: device)
  }

  @Test func anUpdateStartsFromWhatWasRegistered() throws {
    settings.register(defaults: ["nbr_logins": 10])
    try settings.$loginCount.update { $0 += 1 }
    #expect(settings.loginCount == 11)
    #expect(try device.entry(store: "defaults", key: "nbr_logins")?.content.value == 11)
    settings.register(defaults: ["nbr_logins": 20])
    #expect(settings.loginCount == 11)
  }

  @Test func everyTypeIsRegisteredAsALiteralOrAsItself() {
    settings.register(defaults: [
      "integer": 5, "string": "x", "double": 0.25, "boolean": true, "array": ["a", "b"],
      "dictionary": ["a": 2], "theme": Theme(name: "dark"), "date": Date.distantPast,
      "mixed": ["a", 1] as StoredValue, "url": URL.homeDirectory,
    ])
    settings.register(defaults: [:])
    #expect(settings.integer == 5 && settings.string == "x" && settings.double == 0.25)
    #expect(settings.boolean && settings.array == ["a", "b"] && settings.dictionary == ["a": 2])
    #expect(settings.theme.name == "dark" && settings.date == .distantPast)
    #expect(settings.array(forKey: "mixed") == ["a", 1])
    #expect(settings.url(forKey: "url")?.absoluteString == URL.homeDirectory.absoluteString)
    #expect(settings.failures.isEmpty)
  }

  @Test func registeringIsNoWrite() throws {
    let heard = ChangeRecorder(settings)
    settings.register(defaults: ["string": "registered", "other": 1])
    #expect(heard.sets.isEmpty)
    #expect(try device.entry(store: "defaults", key: "string") == nil)
    #expect(try device.stores().isEmpty)
    let get = try Command.run(
      Command.built("kvsync").get(), ["get", device.path, "string", "--store", "defaults"])
    #expect(get.code == 1 && get.stdout == "")
  }

  @Test func everyStoreThatStaysOnTheDeviceSeesItWhicheverRegistered() throws {
    let suite = try UserDefaultsStore(on: device, suite: "s")
    let patient = try UserDefaultsStore(on: Device(path: device.path, busyTimeout: .seconds(9)))
    let reader = try UserDefaultsStore(on: Device(path: device.path, access: .readOnly))
    suite.register(defaults: ["k": 1])
    for store in [settings, suite, patient, reader, try UserDefaultsStore(on: device)] {
      #expect(store.integer(forKey: "k") == 1)
    }
    reader.register(defaults: ["k": 2])
    #expect(settings.integer(forKey: "k") == 2)
    let cloud = try CloudKeyValueStore(on: device)
    #expect(cloud.object(forKey: "k") == nil && cloud.dictionaryRepresentation() == [:])
    #expect(try UserDefaultsStore(on: .inMemory()).object(forKey: "k") == nil)
  }

  @Test func itEndsWithTheLastHandleOnTheDevice() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/device.keepsake"
    do {
      let store = try UserDefaultsStore(on: Device(path: path))
      store.register(defaults: ["k": 1])
      #expect(try UserDefaultsStore(on: Device(path: path)).integer(forKey: "k") == 1)
    }
    #expect(try UserDefaultsStore(on: Device(path: path)).object(forKey: "k") == nil)
  }

  @Test func aRegisteredValueThatDoesNotDecodeIsReportedOnceForEachValue() {
    settings.register(defaults: ["integer": "text"])
    for _ in 0..<3 { #expect(settings.integer == 1) }
    #expect(settings.failures.map(\.key) == ["integer"])
    settings.register(defaults: ["integer": "other"])
    #expect(settings.integer == 1)
    #expect(settings.failures.count == 2)
  }

  @Test func whatCannotBeStoredIsReportedAndLeftOut() throws {
    let deep = (0...StoredValue.maximumDepth).reduce(1 as StoredValue) { inner, _ in [inner] }
    settings.register(defaults: ["big": UInt64.max, "deep": deep, "good": 1])
    #expect(settings.failures.map(\.key).sorted() == ["big", "deep"])
    #expect(settings.failures.allSatisfy { $0.operation == .write })
    let plain = try UserDefaultsStore(on: settings.device, arguments: .none)
    #expect(plain.dictionaryRepresentation() == ["good": 1])
  }

  @Test func keysAreDistinguishedByTheirBytes() {
    settings.register(defaults: ["é": 1])
    #expect(settings.object(forKey: "e\u{301}") == nil)
    settings.register(defaults: ["e\u{301}": 2])
    #expect(settings.integer(forKey: "é") == 1 && settings.integer(forKey: "e\u{301}") == 2)
  }

  @Test func threadsThatRegisterAndReadSeeWholeRegistrations() async {
    await withTaskGroup(of: Void.self) { group in
      for task in 1...4 {
        group.addTask { [settings] in
          for _ in 0..<50 { settings.register(defaults: ["a": task, "b": task]) }
        }
        group.addTask { [settings] in
          for _ in 0..<50 {
            let all = settings.dictionaryRepresentation()
            #expect(all["a"] == all["b"])
          }
        }
      }
    }
  }
}
