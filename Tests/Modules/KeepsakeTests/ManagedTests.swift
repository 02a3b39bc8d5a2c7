// SPDX-License-Identifier: Apache-2.0
//
// A store cannot set what a managed layer of its own has. Writes to the file that do not go through
// the store, as those of kvsync and of merges, are stored, and hidden by the layer.

import Keepsake
import KeepsakeDevice
import KeepsakeTesting
import Observation
import TestSupport
import Testing

private struct Preferences: Codable, Equatable { var low = 0, high = 5 }

private final class Managed: UserDefaultsStore, Observable, @unchecked Sendable {
  @Setting var theme = "light"
  @Setting var volume = 5
  @Setting var isLoud = false
  @Setting var tags: [String] = []
  @Setting(fields: "p.") var prefs = Preferences()
}

extension SettingKey where Value == Int {
  fileprivate static var volume: Self { Self("volume", default: 5) }
}

private func change(_ value: inout StoredValue?) { value = ["b"] }

@Suite struct ManagedTests {
  private let device: Device
  private let layer = SettingsLayer.given(
    .managed,
    [
      "theme": ["dark"], "volume": ["9", 9], "isLoud": [1, true], "tags": [["a"]],
      "p.low": ["7", 7],
    ])
  private let store: Managed

  init() throws {
    device = try Device.inMemory()
    store = try Managed(on: device, layers: [layer], arguments: .none)
  }

  private func isUnchanged() throws -> Bool {
    let entries = try device.values(store: "defaults")
    return entries.isEmpty && store.theme == "dark" && store.volume == 9 && store.isLoud
      && store.tags == ["a"] && store.prefs == Preferences(low: 7, high: 5)
  }

  private static let throwing: [(way: String, set: @Sendable (Managed) throws -> Void)] = [
    ("write", { try $0.$theme.write("light") }),
    ("write of an equal value", { try $0.$theme.write("dark") }),
    ("reset", { try $0.$theme.reset() }),
    ("update", { try $0.$theme.update { $0 += "er" } }),
    ("increment", { try $0.$volume.increment() }),
    ("update of a Boolean", { try $0.$isLoud.update { $0.toggle() } }),
    ("write of members", { try $0.$prefs.write(Preferences(low: 8, high: 5)) }),
    ("update of members", { try $0.$prefs.update { $0 = Preferences(low: 8, high: 9) } }),
    ("reset of members", { try $0.$prefs.reset() }),
    ("write by name", { try $0.write("light", for: "theme") }),
    ("write of nil by name", { try $0.write(nil, for: "theme") }),
    ("update by name", { try $0.update("theme") { $0 = nil } }),
    ("setting of a key", { try $0.setting(.volume).write(1) }),
    ("transaction: property", { store in try store.transaction { store.volume = 1 } }),
    ("transaction: nil by subscript", { store in try store.transaction { store["theme"] = nil } }),
    (
      "transaction of the device",
      { store in try store.device.transaction { store.volume = 1 } }
    ),
    (
      "transaction: in place, beside another key",
      { store in
        try store.transaction {
          store["other"] = 1
          store.volume += 1
        }
      }
    ),
  ]

  @Test(arguments: throwing.map(\.way))
  func whatThrowsRefuses(way: String) throws {
    let set = try #require(Self.throwing.first { $0.way == way }).set
    let error = #expect(throws: KeepsakeError.self) { try set(store) }
    #expect(error?.code == .managed)
    #expect(error?.description.contains("\" of Given; change it there") == true)
    #expect(try isUnchanged() && store.failures.isEmpty)
  }

  private static let reporting: [(key: String, set: @Sendable (Managed) -> Void)] = [
    ("theme", { $0.theme = "light" }), ("theme", { $0.theme += "er" }),
    ("volume", { $0.volume += 1 }), ("tags", { $0.tags.append("b") }),
    ("p.low", { $0.prefs.low = 8 }), ("p.low", { $0.prefs = Preferences(low: 8, high: 9) }),
    ("theme", { $0["theme"] = "light" }), ("theme", { $0["theme"] = nil }),
    ("tags", { change(&$0["tags"]) }),
    ("volume", { $0[.volume] = 1 }), ("volume", { $0[.volume] += 1 }),
    ("theme", { $0.set("light", forKey: "theme") }),
    ("theme", { $0.removeObject(forKey: "theme") }),
    ("other.key", { $0.set(StoredValue.integer(1), forKey: "other.key") }),
  ]

  @Test(arguments: reporting.indices)
  func whatCannotThrowReports(index: Int) throws {
    layer.give(["other.key": [0]])
    let (key, set) = Self.reporting[index]
    set(store)
    #expect(try isUnchanged())
    #expect(store.failures.map(\.key) == [key] && store.failures.map(\.operation) == [.write])
    #expect(store.failures.allSatisfy { ($0.cause as? KeepsakeError)?.code == .managed })
    #expect(
      store.failures.first?.description
        == "defaults/\(key): the setting could not be written: (memory): the key \"\(key)\" is "
        + "managed by \"\(key.uppercased())\" of Given; change it there; "
        + "check isManaged before a write")
  }

  @Test func aMigrationLeavesManagedKeysAndTakesTheOthers() throws {
    let left = try store.migrate(from: ["size": 3, "theme": "light"])
    #expect(left.keys.sorted() == ["theme"] && left["theme"]?.contains("is managed by") == true)
    #expect(store["size"] == 3 && store.theme == "dark" && store.failures.isEmpty)
  }

  @Test func whatIsWrittenToTheFileIsStoredAndHidden() throws {
    try device.write([LocalWrite(store: "defaults", key: "theme", value: "red")])
    #expect(store.theme == "dark" && store.failures.isEmpty)
    layer.give(["theme": nil])
    #expect(store.theme == "red")
  }

  @Test func whatIsNotManagedIsSet() throws {
    store.prefs.high = 6
    store.prefs = Preferences(low: 7, high: 8)
    try store.$prefs.update { $0.high += 1 }
    #expect(store.prefs == Preferences(low: 7, high: 9) && store.failures.isEmpty)
    #expect(try device.values(store: "defaults").keys.map(\.string) == ["p.high"])
    #expect(store["other"] == nil && !store.isManaged("other"))
    #expect(try store.$prefs.isManaged && store.$theme.isManaged)
    // Nothing is stored, so nothing is refused.
    store.volume += 0
    try store.$volume.update { _ in }
    #expect(store.failures.isEmpty)
  }

  @Test func whatIsNoLongerManagedIsWhatWasSet() throws {
    layer.give(["volume": nil])
    store.volume = 3
    layer.give(["volume": ["9", 9]])
    #expect(store.volume == 9 && store.isManaged("volume"))
    layer.give(["volume": nil])
    #expect(try store.volume == 3 && !store.$volume.isManaged && store.failures.isEmpty)
  }

  @Test func aLayerManagesTheStoresThatHaveItAndNoOther() throws {
    let other = try Managed(on: device, arguments: .none)
    let both = try Managed(on: device, layers: [.given(.managed, ["theme": ["red"]]), layer])
    other.theme = "blue"
    #expect(other.theme == "blue" && other.failures.isEmpty && !other.isManaged("theme"))
    #expect(store.theme == "dark" && both.theme == "red" && both.volume == 9)
    let (mine, others) = (ChangeRecorder(store), ChangeRecorder(other))
    layer.give(["theme": ["black"]])
    #expect(mine.all.map(\.new) == ["black"] && others.all.isEmpty)
    #expect(store.theme == "black" && other.theme == "blue" && both.theme == "red")
  }
}
