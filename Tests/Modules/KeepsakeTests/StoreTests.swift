// SPDX-License-Identifier: Apache-2.0

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
    @Setting var size = 1
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
    let small = try SmallBundle("size", default: 14)
    let device = try Device.temporary()
    let settings = try Local(on: device, seededBy: SettingsBundle(at: small.url))
    #expect(settings.size == 14 && settings.theme == "light")
    #expect(try device.entry(store: "defaults", key: "size") == nil && device.stores().isEmpty)
    settings.size = 2
    #expect(settings.size == 2)
    try settings.$size.reset()
    #expect(settings.size == 14 && settings.failures.isEmpty)
  }

  @Test func aNewerBundleReplacesTheDefaultsAndNothingThatWasSet() throws {
    let (old, new) = (try SmallBundle("size", default: 14), try SmallBundle("size", default: 15))
    let device = try Device.temporary()
    let first = try Local(on: device, seededBy: SettingsBundle(at: old.url))
    first.theme = "dark"
    let second = try Local(on: device, seededBy: SettingsBundle(at: new.url))
    #expect(second.size == 15 && second.theme == "dark")
    #expect(try Local(on: device).size == 15)
  }

  @Test func seedingTheSameAgainWritesNothing() throws {
    let device = try Device.temporary()
    let defaults = ["a", "b"].map { DefaultValue(key: $0, value: 1, source: "s") }
    #expect(try device.seed(store: "defaults", bundle: "b", defaults))
    #expect(try !device.seed(store: "defaults", bundle: "b", defaults))
    #expect(try device.seed(store: "defaults", bundle: "b", Array(defaults.dropLast())))
    #expect(try device.defaults(store: "defaults").count == 1)
  }

  /// The observer writes the key that a merge has changed, too.
  @Test func anObserverMayWrite() throws {
    let store = try Shared(on: .inMemory())
    let heard = Heard()
    let observation = store.observe { changes in
      heard.append(changes)
      if changes.contains(where: { $0.key == "theme" }) { store.size += 1 }
      if changes.contains(where: { $0.reason == .firstMerge }) { store.theme += " and ours" }
    }
    store.size = 2
    store.theme = "dark"
    #expect(heard.sets.map { $0.map(\.key) } == [["size"], ["theme"], ["size"]])
    let other = try Shared(on: .inMemory())
    other["more"] = 1
    try store.device.merge(with: other.device)
    #expect(store.theme == "dark and ours" && store.size == 4 && store["more"] == 1)
    observation.cancel()
    let count = heard.sets.count
    store.theme = "blue"
    #expect(heard.sets.count == count)
  }
}
