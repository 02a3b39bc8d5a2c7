// SPDX-License-Identifier: Apache-2.0
//
// What went wrong in Alchemic's stores, from which these descend, must not go wrong here: each of
// the ten has a test of its name.

import Foundation
import Keepsake
import KeepsakeInjection
import SettingsFixture
import TestSupport
import Testing

/// Hooks that leave a trace on either side: `value` is stored as `stored:value`.
extension Transformer {
  fileprivate static var traced: Transformer<String> {
    Transformer<String>(
      fromBackingStore: { (text: String) in
        text.hasPrefix("stored:") ? String(text.dropFirst(7)) : nil
      },
      toBackingStore: { "stored:" + $0 })
  }
}

private class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting(by: .traced) var myObject = "none"
  @Setting(by: .traced) var URLOfMyObject2: String?
  @Setting var count = 1
  @Setting var ratio = 0.5
  @Setting var isOn = true
}

private final class Derived: Shared, @unchecked Sendable {
  @Setting var own = 2
}

@Suite struct AlchemicBugTests {
  private let device: Device
  private let other: Device
  private let here: Shared
  private let there: Shared

  init() throws {
    (device, other) = (try Device.temporary(), try Device.temporary())
    (here, there) = (try Shared(on: device), try Shared(on: other))
  }

  private func run(_ program: String, _ arguments: [String]) throws -> String {
    let ending = try Command.run(program, arguments)
    #expect(ending.code == 0, "\(ending)")
    return ending.stdout
  }

  private func shell(_ sql: String) throws -> String {
    try run(Command.find("sqlite3"), [device.path, sql])
  }

  @Test("1: the hooks of a property with capitals in its name run, both ways")
  func hooksOfCamelCaseNamesRun() throws {
    here.myObject = "a"
    here.URLOfMyObject2 = "b"
    #expect(here["myObject"] == "stored:a" && here["URLOfMyObject2"] == "stored:b")
    #expect(here.myObject == "a" && here.URLOfMyObject2 == "b")
    #expect(try Shared(on: device).myObject == "a")
  }

  @Test("2: a change from outside goes through the from-hook, whoever makes it")
  func changesFromOutsideGoThroughTheHook() throws {
    #expect(here.myObject == "none")
    there.myObject = "merged"
    try device.merge(with: other)
    #expect(here.myObject == "merged")
    _ = try run(Command.kvsync.get(), ["set", device.path, "myObject", "stored:process"])
    #expect(here.myObject == "process")
    _ = try shell("UPDATE entry SET value = 'stored:shell' WHERE key = 'myObject'")
    #expect(here.myObject == "shell")
    try Shared(on: Device(path: device.path)).myObject = "connection"
    #expect(here.myObject == "connection")
    #expect(here.errors.isEmpty)
    // What the hook refuses does not get past it.
    here["myObject"] = "raw"
    #expect(here.myObject == "none" && here.errors.map(\.key) == ["myObject"])
  }

  @Test("3: setting nil removes the key and stores no null")
  func nilRemovesTheKey() throws {
    let local = try EverySetting(on: device)
    local.maybeString = "x"
    local.maybeString = nil
    here.URLOfMyObject2 = "x"
    here.URLOfMyObject2 = nil
    #expect(local["maybeString"] == nil && here["URLOfMyObject2"] == nil)
    #expect(local.dictionaryRepresentation()["maybeString"] == nil)
    #expect(here.dictionaryRepresentation()["URLOfMyObject2"] == nil)
    #expect(local.errors.isEmpty && here.errors.isEmpty)
    // A store that travels keeps the fact that it was deleted, and nothing else.
    #expect(try shell("SELECT store, key, tag FROM entry") == "cloud|URLOfMyObject2|0\n")
  }

  @Test("4: a deletion from outside under a scalar property gives its default")
  func deletionUnderAScalarGivesTheDefault() throws {
    (there.count, there.ratio, there.isOn) = (5, 5.5, false)
    try device.merge(with: other)
    #expect(here.count == 5 && here.ratio == 5.5 && !here.isOn)
    try there.$count.reset()
    try device.merge(with: other)
    #expect(here.count == 1)
    _ = try run(Command.kvsync.get(), ["delete", device.path, "ratio"])
    #expect(here.ratio == 0.5)
    _ = try shell("DELETE FROM entry WHERE key = 'isOn'")
    #expect(here.isOn)
    #expect(here.errors.isEmpty)
  }

  @Test("5: an observer does not keep its store alive, and hears nothing once it is released")
  func observingLeaksNothing() throws {
    let heard = Heard()
    weak var gone: Shared?
    var observation: ObservationToken?
    do {
      let store = try Shared(on: device)
      gone = store
      observation = store.observe { heard.append($0) }
      _ = store.changes()
      store.count = 2
    }
    #expect(gone == nil, "observed, and freed")
    here.count = 3
    #expect(heard.sets.count == 2, "the token is kept, so it hears")
    withExtendedLifetime(observation) {}
    observation = nil
    here.count = 4
    #expect(heard.sets.count == 2)
    #expect(!device.hasObservers)
  }

  @Test("6: inherited properties are saved and loaded back")
  func inheritedPropertiesAreSavedAndLoaded() throws {
    let derived = try Derived(on: device)
    (derived.myObject, derived.count, derived.own) = ("a", 10, 20)
    let again = try Derived(on: Device(path: device.path))
    #expect(again.myObject == "a" && again.count == 10 && again.own == 20)
    #expect(here.count == 10)
  }

  @Test("7: the values are there when init returns, and so when the container says it has started")
  func valuesAreThereWhenInitReturns() async throws {
    final class Reader: Sendable {
      let first: Int
      init(settings: Shared) { first = settings.count }
    }
    here.count = 42
    let path = device.path
    let container = Container { c in
      c.register { _ in try Device(path: path) }
      c.register { c in try Shared(on: c.get()) }
      c.register(using: Reader.init)
    }
    try await container.start()
    #expect(try (container.get() as Reader).first == 42)
    #expect(try Shared(on: device).count == 42)
  }

  @Test("8: a write during an update from outside is not lost")
  func writesDuringAnUpdateFromOutsideAreKept() async throws {
    // While the update is announced: another key, and the very same one.
    let observation = here.observe { [here] changes in
      guard changes.contains(where: { $0.key == "count" && $0.reason == .firstMerge }) else {
        return
      }
      here.ratio = 9
      here.count = 100
    }
    there.count = 50
    try device.merge(with: other)
    #expect(here.count == 100 && here.ratio == 9)
    observation.cancel()
    // And on another thread while merges go on.
    let (device, other, here, there) = (device, other, here, there)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<20 {
          there["theirs \(number)"] = 1
          try device.merge(with: other)
        }
      }
      group.addTask { for number in 0..<200 { here["ours \(number)"] = 1 } }
      try await group.waitForAll()
    }
    #expect((0..<20).allSatisfy { here["theirs \($0)"] == 1 })
    #expect((0..<200).allSatisfy { here["ours \($0)"] == 1 })
    #expect(here.errors.isEmpty)
  }

  @Test("9: an update of a cloud store is announced with its keys, values, origin and reason")
  func anUpdateOfACloudStoreIsAnnounced() throws {
    here.count = 2
    there.ratio = 0.25
    there.count = 3
    let heard = Heard()
    let observation = here.observe { heard.append($0) }
    try device.merge(with: other)
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }.sorted { $0.key < $1.key }
    #expect(changes.map(\.key) == ["count", "ratio"])
    #expect(changes.map(\.old) == [2, nil] && changes.map(\.new) == [3, 0.25])
    #expect(changes.allSatisfy { $0.store == "cloud" && $0.reason == .firstMerge })
    let theirs = try other.replica()
    #expect(changes.allSatisfy { $0.writer == theirs })
    #expect(here.count == 3 && here.ratio == 0.25)
  }

  @Test("10: defaults are read from Root.plist in Settings.bundle, and from no other file")
  func defaultsAreReadFromOneFileOnly() throws {
    func plist(_ name: String) -> Data {
      Data(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>PreferenceSpecifiers</key><array><dict>
        <key>Type</key><string>PSTextFieldSpecifier</string><key>Key</key><string>string</string>
        <key>DefaultValue</key><string>\(name)</string></dict></array></dict></plist>
        """.utf8)
    }
    let folder = try TemporaryFolder()
    let bundle = URL(fileURLWithPath: folder.path + "/Settings.bundle")
    try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: false)
    for decoy in ["Root.plist", "Roots.plist", "Settings.bundle/Roots.plist"] {
      try plist(decoy).write(to: URL(fileURLWithPath: folder.path + "/" + decoy))
    }
    let missing = #expect(throws: PropertyListError.self) { try SettingsBundle(at: bundle) }
    #expect(missing?.description.contains("Root.plist") == true)
    try plist("inside").write(to: bundle.appendingPathComponent("Root.plist"))
    let settings = try UserDefaultsStore(on: .inMemory(), seededBy: SettingsBundle(at: bundle))
    #expect(settings["string"] == "inside")
  }
}
