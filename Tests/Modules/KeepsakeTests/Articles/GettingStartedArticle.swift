// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeInjection
import KeepsakeTesting
import SettingsFixture
import TestSupport
import Testing

extension SettingKey where Value == Int {
  fileprivate static var volume: Self { Self("volume", default: 5) }
}

@Suite struct GettingStartedArticle {
  enum Theme: String, BackingStoreConvertible { case light, dark, sepia }

  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting("letter_size") var letterSize = 12
    @Setting var lastOpened: Date?
  }

  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting var theme = Theme.light
    @Setting var tags: Set<String> = []
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
    try settings.transaction(durability: .powerSafe) {
      settings.username = "bob"
      shared.theme = .dark
    }
    #expect(settings.username == "bob")
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

/// The code of the other sections of the article, and the classes that they need.
@Suite struct FeatureSnippets {
  enum Theme: String { case light, dark }

  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting("nbr_logins") var loginCount = 0
    @Setting var nickname: String?
    @Setting(by: .rawValue) var theme = Theme.light
    @Setting(by: .hexColor.array()) var palette: [Color] = []
    @Setting(.volume) var volume: Int
  }

  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting(by: .rawValue) var theme = Theme.light
    @Setting var tags: Set<String> = []
  }

  final class Greeter: Sendable {
    let settings: UserDefaultsStore
    init(_ settings: UserDefaultsStore) { self.settings = settings }
  }

  private let device: Device
  private let settings: AppSettings
  private let shared: SharedSettings

  init() throws {
    device = try Device.temporary()
    settings = try AppSettings(on: device, arguments: .none)
    shared = try SharedSettings(on: device)
  }

  @Test func settingsReadAndWrite() throws {
    settings.username = "ada"
    try settings.$loginCount.update { $0 += 1 }
    try settings.$username.write("ada")
    try settings.$nickname.reset()
    settings[.volume] += 1
    settings["raw"] = ["any": [1, true, 2.5]]
    let failures = settings.observeFailures { print($0) }
    #expect(settings.username == "ada" && settings.loginCount == 1 && settings.volume == 6)
    #expect(settings.failures.isEmpty)
    failures.cancel()
  }

  /// Not run: it would end with its task.
  func observing() async {
    let token = settings.observe(.prefix("editor.")) { print($0) }  // of any process
    let onMain = settings.observe(on: MainActor.self) { print($0) }  // for a user interface
    for await name in settings.$username.values { print(name) }  // the current one first
    for await changes in settings.changes() { print(changes) }  // every change set
    settings.postNotifications()  // to NotificationCenter, by Foundation's members
    withExtendedLifetime((token, onMain)) {}
  }

  @Test func devicesSync() throws {
    let (phone, laptop) = (device, try Device.temporary())
    print(try shared.valueState(forKey: "theme"))
    try phone.compact()
    let report = try phone.merge(with: laptop)  // safe at any time; later writes win
    print(try shared.syncState)  // neverSynced, upToDate(asOf:) or pending(changes:asOf:)
    let session = SyncSession(phone, laptop, onFailure: { print($0) })  // syncs at each change
    let resolving = shared.resolveConflicts { conflict in
      guard let lost = try shared.$tags.lost(in: conflict) else { return }
      shared.tags.formUnion(lost)
    }
    #expect(report.hasConverged)
    session.cancel()
    resolving.cancel()
  }

  @Test func aBundleIsCompared() throws {
    final class AppSettings: DeviceSettings, @unchecked Sendable {
      @Setting("letter_size") var letterSize = 12
    }
    let small = try SmallBundle("letter_size", default: 14)
    let url = small.url
    #expect(try AppSettings(on: .inMemory()).differences(from: SettingsBundle(at: url)) == [])
  }

  @Test func foundationsNamesAreThere() {
    settings.register(defaults: ["volume": 5, "name": "x"])
    settings.set(["ada", "bob"], forKey: "names")
    let volume = settings.integer(forKey: "volume")
    #expect(volume == 5 && settings.failures.isEmpty)
  }

  @Test func aContainerMakesObjectsThatTestsMakeAnew() throws {
    let app = try made()
    let settings = try AppSettings(on: .inMemory())
    let failures = settings.failuresAreIssues()
    defer { failures.cancel() }
    let test = try app.forTest()
    let recorder = ChangeRecorder(settings)
    let devices = try SimulatedDevices(count: 3, seed: 42)
    try devices.crash(1)
    try devices.settle()
    settings.username = "ada"
    #expect(recorder.changes(of: "username").count == 1)
    let greeter: Greeter = try test.get()
    #expect(greeter.settings["username"] == nil)
    failures.cancel()
  }

  private func made() throws -> Container {
    let app = Container(StoreModules.userDefaults, StoreModules.cloudKeyValueStore) { c in
      c.register { _ in try Device(path: "laptop.keepsake") }
      c.register(using: Greeter.init)
    }
    try app.validate()
    return app
  }
}

/// The code of the section on tests.
@Suite struct TestingSnippets {
  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting("letter_size") var letterSize = 12
  }

  @Test func aNewUserIsAGuest() throws {
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    #expect(settings.username == "guest")
  }

  @Test func aChildOfAContainerIsFresh() throws {
    let app = Container { c in
      c.register { _ in try Device(identifier: "org.example.reader") }
      c.register { c in try AppSettings(on: c.get()) }
    }
    let test = try app.child(fresh: true) { try $0.set(Device.inMemory()) }
    let settings: AppSettings = try test.get()
    let recorder = ChangeRecorder(settings)
    settings.username = "ada"
    #expect(recorder.changes(of: "username").map(\.new) == ["ada"])
  }
}
