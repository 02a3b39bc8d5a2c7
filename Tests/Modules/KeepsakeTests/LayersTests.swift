// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Synchronization
import TestSupport
import Testing

private final class End: Sendable {
  let isReached = Atomic(false)
}

@Suite struct LayersTests {
  private let device: Device
  private let store: LayeredSettings

  init() throws {
    device = try Device.temporary()
    store = try LayeredSettings(on: device, arguments: .none)
  }

  private static func seed(
    _ device: Device, _ store: String, _ values: [String: StoredValue]
  ) throws {
    try device.seed(
      store: store, bundle: "b",
      values.map { DefaultValue(key: $0.key, value: $0.value, source: "Root.plist:1") })
  }

  /// Every way to read a key gives the same.
  private static func check(
    _ store: LayeredSettings, _ key: String, _ set: StoredValue?, _ note: String = ""
  ) throws {
    let expected = set ?? "declared"
    let path = ["a": \LayeredSettings.$a, "b": \.$b, "c": \.$c][key] ?? \.$a
    let setting = store[keyPath: path]
    #expect(setting.wrappedValue == expected, "property \(key) \(note)")
    #expect(try setting.read() == expected, "get \(key) \(note)")
    #expect(try store.read(key) == expected, "read \(key) \(note)")
    #expect(store[key] == expected && store.object(forKey: key) == expected, "\(key) \(note)")
    #expect(store.dictionaryRepresentation()[key] == expected, "dictionary \(key) \(note)")
    #expect(try store.explain(key).inForce?.value == expected, "explain \(key) \(note)")
    #expect(try setting.explain().inForce?.value == expected, "\(key) \(note)")
    try store.transaction {
      #expect(store[key] == expected, "in a transaction \(key) \(note)")
      #expect(store.dictionaryRepresentation()[key] == expected, "\(key) \(note)")
    }
    struct Undone: Error {}
    #expect(throws: Undone.self) {
      try store.update(key) {
        #expect($0 == expected, "update \(key) \(note)")
        throw Undone()
      }
    }
  }

  @Test(arguments: Seeds.list(12))
  func allWaysToReadGiveTheFirstLayerThatHasAValue(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let device = try seed % 2 == 0 ? Device.inMemory() : Device.temporary()
    var oracle = LayersOracle()
    for round in 0..<4 {
      let words = ["a", "b", "c"].filter { _ in generator.chance(15) }
      oracle.arguments = Dictionary(uniqueKeysWithValues: words.map { ($0, .string("argument")) })
      oracle.ownSeeds = oracle.seeds["defaults"] ?? [:]
      oracle.suites = []
      oracle.given = [:]
      let given = [SettingsLayer.given(.managed), .given(.defaults)]
      let store = try LayeredSettings(
        on: device, layers: given,
        arguments: LaunchArguments(["program"] + words.flatMap { ["-\($0)", "argument"] }))
      for step in 0..<25 {
        let text = "\(round).\(step)"
        if generator.chance(25) {
          try Self.reload(given, store, &oracle, "seed \(seed), step \(text)", &generator)
        } else {
          try Self.change(store, &oracle, text, &generator)
        }
        for key in ["a", "b", "c"] {
          try Self.check(store, key, oracle.value(key), "seed \(seed), step \(round).\(step)")
        }
        #expect(Set(store.dictionaryRepresentation().keys) == ["a", "b", "c"], "seed \(seed)")
      }
      #expect(store.failures.isEmpty)
    }
  }

  /// Other values of a given layer: observers hear what that changes, and nothing else.
  private static func reload(
    _ given: [SettingsLayer], _ store: LayeredSettings, _ oracle: inout LayersOracle,
    _ note: String, _ generator: inout SeededGenerator
  ) throws {
    let (before, heard) = (oracle, ChangeRecorder(store))
    let layer = generator.chance(50) ? given[0] : given[1]
    let keys = ["a", "b", "c"].filter { _ in generator.chance(50) }
    let values = keys.map { key in
      (key, generator.chance(40) ? StoredValue?.none : .string("given \(note)"))
    }
    for (key, value) in values { oracle.given[layer.place, default: [:]][key] = value }
    layer.give(Dictionary(uniqueKeysWithValues: values.map { ($0, $1.map { [$0] }) }))
    let changed = ["a", "b", "c"].filter { before.value($0) != oracle.value($0) }
    #expect(heard.sets.count == (changed.isEmpty ? 0 : 1), "\(note)")
    #expect(heard.all.map(\.key) == changed, "\(note)")
    #expect(heard.all.map(\.old) == changed.map(before.value), "\(note)")
    #expect(heard.all.map(\.new) == changed.map(oracle.value), "\(note)")
    #expect(heard.all.allSatisfy { $0.reason == .reload && $0.origin == .thisProcess })
  }

  /// Sets a value, unless it is managed.
  private static func write(
    _ target: UserDefaultsStore, _ store: LayeredSettings, _ oracle: inout LayersOracle,
    _ key: String, _ value: StoredValue?
  ) throws {
    let isManaged = target === store && oracle.given[.managed]?[key] != nil
    #expect(target.isManaged(key) == isManaged && target.objectIsForced(forKey: key) == isManaged)
    let result = Result { () throws(KeepsakeError) in try target.write(value, for: key) }
    guard !isManaged else {
      expectError(.managed) { try result.get() }
      return
    }
    try result.get()
    oracle.entries[target.storeName, default: [:]][key] = value
  }

  /// One random change to one layer.
  private static func change(
    _ store: LayeredSettings, _ oracle: inout LayersOracle, _ text: String,
    _ generator: inout SeededGenerator
  ) throws {
    let key = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
    let suite = ["x", "y", "z"].randomElement(using: &generator) ?? "x"
    let isOwn = generator.chance(40)
    let name = isOwn ? "defaults" : "defaults:\(suite)"
    let target =
      isOwn ? store : try UserDefaultsStore(on: store.device, suite: suite, arguments: .none)
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1, 2:
      try write(target, store, &oracle, key, .string("\(name) \(text)"))
    case 3, 4:
      try write(target, store, &oracle, key, nil)
    case 5:
      store.register(defaults: [key: "registered \(text)"])
      oracle.registered[key] = .string("registered \(text)")
    case 6, 7, 8:
      oracle.seeds[name] = [key: .string("seed \(name) \(text)")]
      try Self.seed(store.device, name, oracle.seeds[name] ?? [:])
    case 9, 10:
      store.addSuite(named: suite)
      oracle.suites.removeAll { $0.name == suite }
      oracle.suites.insert((suite, oracle.seeds["defaults:\(suite)"] ?? [:]), at: 0)
    default:
      store.removeSuite(named: suite)
      oracle.suites.removeAll { $0.name == suite }
    }
  }

  @Test func suitesAreOfOneStoreObject() throws {
    let suite = try UserDefaultsStore(on: device, suite: "s", arguments: .none)
    suite["a"] = "suite"
    store.addSuite(named: "s")
    #expect(store.a == "suite")
    #expect(try LayeredSettings(on: device, arguments: .none).a == "declared")
    // The suite of a suite is not asked.
    suite.addSuite(named: "t")
    try UserDefaultsStore(on: device, suite: "t", arguments: .none)["b"] = "t"
    #expect(suite["b"] == "t" && store.b == "declared")
  }

  @Test func aStoreIsNotItsOwnSuite() throws {
    let suite = try UserDefaultsStore(on: device, suite: "s", arguments: .none)
    suite.addSuite(named: "s")
    #expect(suite.failures.map(\.operation) == [.addSuite])
    #expect("\(suite.failures)".contains("the suite \"s\" is this store itself"))
    store.addSuite(named: "s")
    #expect(store.failures.isEmpty)
  }

  @Test func addingASuiteIsNoWriteAndAnnouncesNothing() throws {
    try UserDefaultsStore(on: device, suite: "s", arguments: .none)["a"] = "suite"
    let heard = Heard()
    let observation = heard.observe(device)
    store.addSuite(named: "s")
    store.removeSuite(named: "s")
    #expect(heard.sets.isEmpty)
    #expect(try device.entry(store: "defaults", key: "a") == nil)
    observation.cancel()
  }

  @Test func writesGoToTheOwnEntries() throws {
    let suite = try UserDefaultsStore(on: device, suite: "s", arguments: .none)
    suite["a"] = "suite"
    store.addSuite(named: "s")
    try store.update("a") { $0 = .string(($0?.stringText ?? "") + "!") }
    #expect(store.a == "suite!" && suite["a"] == "suite")
  }

  @Test func aReadInSeveralSuitesIsOfOneMoment() async throws {
    let store = store
    store.addSuite(named: "s")
    try device.write([LocalWrite(store: "defaults", key: "a", value: "here")])
    let other = try Device(path: device.path, busyTimeout: .seconds(9))
    let end = End()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 0..<1500 {
          // It is always in one of the two, never in both.
          let isHere: StoredValue? = round % 2 == 0 ? nil : "here"
          let isThere: StoredValue? = round % 2 == 0 ? "here" : nil
          #expect(throws: Never.self) {
            try other.write([
              LocalWrite(store: "defaults", key: "a", value: isHere),
              LocalWrite(store: "defaults:s", key: "a", value: isThere),
            ])
          }
        }
        end.isReached.store(true, ordering: .relaxed)
      }
      group.addTask {
        var missed = 0
        while !end.isReached.load(ordering: .relaxed) {
          if store["a"] != "here" { missed += 1 }
          if store.dictionaryRepresentation()["a"] != "here" { missed += 1 }
        }
        #expect(missed == 0)
      }
    }
  }
}

extension StoredValue {
  fileprivate var stringText: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
