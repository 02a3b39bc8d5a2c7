// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct StoreTests {
  final class Shared: CloudKeyValueStore, @unchecked Sendable {
    @Setting var theme = "light"
    @Setting var size = 1
  }

  final class Local: UserDefaultsStore, @unchecked Sendable {
    @Setting var theme = "light"
    @Setting var volume = 0.5
    @Setting var toggle = false
  }

  /// A Settings bundle with one pane below the root.
  private static func bundle(in folder: TemporaryFolder, volume: String) throws -> SettingsBundle {
    func plist(_ specifiers: String) -> String {
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>PreferenceSpecifiers</key><array>
      \(specifiers)
      </array></dict></plist>
      """
    }
    let path = folder.path + "/Settings.bundle"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let root = plist(
      """
      <dict><key>Type</key><string>PSSliderSpecifier</string><key>Key</key><string>volume</string>
      <key>DefaultValue</key>\(volume)
      <key>MinimumValue</key><integer>0</integer>
      <key>MaximumValue</key><integer>1</integer></dict>
      <dict><key>Type</key><string>PSChildPaneSpecifier</string>
      <key>Title</key><string>More</string>
      <key>File</key><string>More</string></dict>
      """)
    let more = plist(
      """
      <dict><key>Type</key><string>PSToggleSwitchSpecifier</string>
      <key>Title</key><string>T</string>
      <key>Key</key><string>toggle</string><key>DefaultValue</key><true/></dict>
      """)
    try Data(root.utf8).write(to: URL(fileURLWithPath: path + "/Root.plist"))
    try Data(more.utf8).write(to: URL(fileURLWithPath: path + "/More.plist"))
    return try SettingsBundle(at: path)
  }

  @Test func storesOnOneDeviceKeepApart() throws {
    let device = try Device.temporary()
    let stores: [SettingsStore] = [
      try UserDefaultsStore(on: device), try UserDefaultsStore(on: device, suite: "s"),
      try CloudKeyValueStore(on: device), try CloudKeyValueStore(on: device, name: "s"),
    ]
    #expect(stores.map(\.storeName) == ["defaults", "defaults:s", "cloud", "cloud:s"])
    for (index, store) in stores.enumerated() { store["k"] = .integer(Int64(index)) }
    for (index, store) in stores.enumerated() { #expect(store["k"] == .integer(Int64(index))) }
  }

  @Test func aSeedIsADefaultAndNeverAStoredWrite() throws {
    let folder = try TemporaryFolder()
    let device = try Device.temporary()
    let settings = try Local(
      on: device, seededBy: Self.bundle(in: folder, volume: "<integer>1</integer>"))
    #expect(settings.volume == 1)
    #expect(settings.toggle)
    #expect(settings.theme == "light")
    #expect(try device.entry(store: "defaults", key: "volume") == nil)
    #expect(try device.stores().isEmpty)
    settings.volume = 0.25
    #expect(settings.volume == 0.25)
    try settings.$volume.reset()
    #expect(settings.volume == 1)
    #expect(settings.errors.isEmpty)
  }

  @Test func aNewerBundleReplacesTheDefaultsAndNothingThatWasSet() throws {
    let folder = try TemporaryFolder()
    let device = try Device.temporary()
    let first = try Local(
      on: device, seededBy: Self.bundle(in: folder, volume: "<real>0.75</real>"))
    first.toggle = false
    let newer = try Self.bundle(in: folder, volume: "<real>0.1</real>")
    let second = try Local(on: device, seededBy: newer)
    #expect(second.volume == 0.1)
    #expect(second.toggle == false)
    #expect(try Local(on: device).volume == 0.1)
  }

  @Test func seedingTheSameAgainWritesNothing() throws {
    let folder = try TemporaryFolder()
    let device = try Device.temporary()
    let bundle = try Self.bundle(in: folder, volume: "<real>0.75</real>")
    let defaults = bundle.seeds.map { DefaultValue(key: $0.key, value: $0.value, source: "s") }
    #expect(try device.seed(store: "defaults", bundle: "b", defaults))
    #expect(try !device.seed(store: "defaults", bundle: "b", defaults))
    #expect(try device.seed(store: "defaults", bundle: "b", Array(defaults.dropLast())))
    #expect(try device.defaults(store: "defaults").count == defaults.count - 1)
  }

  @Test func whatStaysOnTheDeviceIsNotMerged() throws {
    let (phone, laptop) = (try Device.inMemory(), try Device.inMemory())
    try Local(on: phone).theme = "dark"
    try phone.merge(with: laptop)
    #expect(try Local(on: laptop).theme == "light")
  }

  @Test func changesAreASequenceThatEndsWithItsReader() async throws {
    let store = try Shared(on: .inMemory())
    let changes = store.changes()
    store.theme = "dark"
    store.size = 2
    var keys: [String] = []
    for await set in changes {
      keys += set.map(\.key)
      if keys.count == 2 { break }
    }
    #expect(keys == ["theme", "size"])
  }

  @Test func anObserverMayWrite() throws {
    let store = try Shared(on: .inMemory())
    let heard = Heard()
    let observation = store.observe { changes in
      heard.append(changes)
      if changes.contains(where: { $0.key == "theme" }) { store.size += 1 }
    }
    store.theme = "dark"
    #expect(heard.sets.map { $0.map(\.key) } == [["theme"], ["size"]])
    #expect(store.size == 2)
    observation.cancel()
    store.theme = "blue"
    #expect(heard.sets.count == 2)
  }
}
