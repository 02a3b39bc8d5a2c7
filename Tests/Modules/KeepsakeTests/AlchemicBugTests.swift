// SPDX-License-Identifier: Apache-2.0
//
// What went wrong in Alchemic's stores, from which these descend, must not go wrong here.

import Keepsake
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

  @Test("a change from outside goes through the from-hook, whoever makes it")
  func changesFromOutsideGoThroughTheHook() throws {
    #expect(here.myObject == "none")
    there.myObject = "merged"
    try device.merge(with: other)
    #expect(here.myObject == "merged")
    try kvsync("set", device.path, "myObject", "stored:process")
    #expect(here.myObject == "process")
    try device.shell("UPDATE entry SET value = 'stored:shell' WHERE key = 'myObject'")
    #expect(here.myObject == "shell")
    try Shared(on: Device(path: device.path)).myObject = "connection"
    #expect(here.myObject == "connection")
    #expect(here.errors.isEmpty)
    // What the hook refuses does not get past it.
    here["myObject"] = "raw"
    #expect(here.myObject == "none" && here.errors.map(\.key) == ["myObject"])
  }

  @Test("setting nil removes the key and stores no null")
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
    #expect(try device.shell("SELECT store, key, type FROM entry") == "cloud|URLOfMyObject2|0\n")
  }

  @Test("an observer does not keep its store alive, and hears nothing once it is released")
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

  @Test("inherited properties are saved and loaded back")
  func inheritedPropertiesAreSavedAndLoaded() throws {
    let derived = try Derived(on: device)
    (derived.myObject, derived.count, derived.own) = ("a", 10, 20)
    let again = try Derived(on: Device(path: device.path))
    #expect(again.myObject == "a" && again.count == 10 && again.own == 20)
    #expect(here.count == 10)
  }

  @Test("a write during an update from outside is not lost")
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
}
