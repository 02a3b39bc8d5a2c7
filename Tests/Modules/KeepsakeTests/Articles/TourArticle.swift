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

@Suite struct TourArticle {
  enum Theme: String { case light, dark }

  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"  // stored under "username"
    @Setting("nbr_logins") var loginCount = 0  // under another key
    @Setting var nickname: String?  // setting nil removes the key
    @Setting(by: .rawValue) var theme = Theme.light  // a type without our protocols
    @Setting(by: .hexColor.array()) var palette: [Color] = []  // by your own transformer
    @Setting(.volume) var volume: Int  // as a SettingKey declares it, outside of any class
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
    settings.username = "ada"  // survives a crash of the process when it returns
    try settings.$loginCount.update { $0 += 1 }  // atomic across threads and processes
    try settings.$username.write("ada")  // throws what the property can only report
    try settings.$nickname.reset()  // removes what was set; the layer below is in force
    settings[.volume] += 1  // a declared key, in any store
    settings["raw"] = ["any": [1, true, 2.5]]  // any key, as a StoredValue
    let failures = settings.observeFailures { print($0) }  // what they cannot throw; also logged
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

  /// Not run: it would make a file in the home folder.
  func transactions(_ url: URL) throws -> (Device, URL?) {
    // In ~/.local/share/org.example.reader/device.keepsake
    let device = try Device(identifier: "org.example.reader")
    try settings.transaction {  // one snapshot, one commit, one change set
      settings.username = "ada"
      shared.theme = .dark  // another store of the same device joins
    }  // a throw, or a setter that fails, rolls back
    // Waits for the disk:
    try settings.transaction(durability: .powerSafe) { settings.username = "bob" }
    let aside = try Device.recover(at: url) { damage in  // keeps the damaged file
      damage.backups.first.map { .restore($0) } ?? .giveUp
    }
    return (device, aside)
  }

  @Test func devicesSync() throws {
    let (phone, laptop) = (device, try Device.temporary())
    let report = try phone.merge(with: laptop)  // safe at any time; later writes win
    print(try shared.syncState)  // neverSynced, upToDate(asOf:) or pending(changes:asOf:)
    print(try shared.valueState(forKey: "theme"))  // set, default, or notYetSynced
    try phone.compact()  // drops tombstones that are older than a year
    let session = SyncSession(phone, laptop, onFailure: { print($0) })  // syncs at each change
    let resolving = shared.resolveConflicts { conflict in  // when the merge is over
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
    settings.register(defaults: ["volume": 5, "name": "x"])  // in memory, below what was set
    settings.set(["ada", "bob"], forKey: "names")  // what cannot be stored does not compile
    let volume = settings.integer(forKey: "volume")  // converts as UserDefaults does: "12.9" is 12
    #expect(volume == 5 && settings.failures.isEmpty)
  }

  @Test func aContainerMakesObjectsThatTestsMakeAnew() throws {
    let app = try made()
    let settings = try AppSettings(on: .inMemory())  // a store for this test alone
    let failures = settings.failuresAreIssues()  // what cannot be thrown fails the test,
    defer { failures.cancel() }  // until here
    let test = try app.forTest()  // `app`: your container; new objects on such a device
    let recorder = ChangeRecorder(settings)  // recorder.changes(of: "username")
    let devices = try SimulatedDevices(count: 3, seed: 42)  // real files, each with its own clock
    try devices.crash(1)  // as `kill -9` would; also copy, snapshot, restore, merge
    try devices.settle()  // syncs until all are equal, else throws the differences
    settings.username = "ada"
    #expect(recorder.changes(of: "username").count == 1)
    let greeter: Greeter = try test.get()
    #expect(greeter.settings["username"] == nil)
    failures.cancel()
  }

  private func made() throws -> Container {
    let app = Container(StoreModules.userDefaults, StoreModules.cloudKeyValueStore) { c in
      c.register { _ in try Device(path: "laptop.keepsake") }
      c.register(using: Greeter.init)  // arguments are found by type
    }
    try app.validate()  // missing, ambiguous, circular: all at once
    return app
  }
}
