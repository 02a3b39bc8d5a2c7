// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeInjection
import TestSupport
import Testing

@Suite struct GettingStartedArticle {
  enum Theme: String, BackingStoreConvertible { case light, dark, sepia }

  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting("letter_size") var letterSize = 12
    @Setting var lastOpened: Date?
  }

  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting var theme = Theme.light
  }

  /// Not run: it would make a file in the home folder.
  func open() throws -> (AppSettings, SharedSettings) {
    let device = try Device(identifier: "org.example.reader")
    let settings = try AppSettings(on: device)
    let shared = try SharedSettings(on: device)
    return (settings, shared)
  }

  @Test func propertiesReadAndWrite() throws {
    let device = try Device.inMemory()
    let (settings, shared) = (try AppSettings(on: device), try SharedSettings(on: device))
    settings.username = "ada"
    settings.letterSize += 2
    settings.lastOpened = nil
    shared.theme = .dark
    #expect(settings["username"] == "ada" && shared["theme"] == "dark")
    try settings.$letterSize.update { $0 += 2 }
    #expect(settings["letter_size"] == 16)
    for failure in settings.failures { print(failure) }
    #expect(settings.failures.isEmpty)
  }

  @Test func aBundleIsALayerBelow() throws {
    let small = try SmallBundle("letter_size", default: 14)
    let url = small.url
    let device = try Device.inMemory()
    let bundle = try SettingsBundle(at: url)
    let settings = try AppSettings(on: device, seededBy: bundle)
    #expect(settings.letterSize == 14)
    #expect(try settings.$letterSize.isDefault)
  }

  @Test func aContainerMakesThem() throws {
    let app = Container(StoreModules.userDefaults, StoreModules.cloudKeyValueStore) { c in
      c.register { _ in try Device(identifier: "org.example.reader") }
      c.register { c in try AppSettings(on: c.get()) }
    }
    let test = try app.forTest()
    let settings: AppSettings = try test.get()
    #expect(try test.get(.userDefaults) === settings)
    #expect(type(of: try test.get(.cloudKeyValueStore)) == CloudKeyValueStore.self)
  }
}
