// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct DictionaryRepresentationTests {
  private static let keys = ["a", "b", "c", "é", "", "d.e", "$date", "日本"]
  private static let values: [StoredValue] = [
    1, 0.5, true, "text", ["a", 1], ["k": [1]], .data(Data([1])), .date(.distantPast),
    .opaque(OpaqueValue(TaggedCell(tag: 99, cell: .text("newer")))),
  ]

  /// One random change to one layer.
  private static func change(
    _ device: Device, _ stores: [SettingsStore], _ generator: inout SeededGenerator
  ) throws {
    let key = keys.randomElement(using: &generator) ?? "a"
    let value = values.randomElement(using: &generator) ?? 1
    let store = stores.randomElement(using: &generator)
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: store?.removeObject(forKey: key)
    case 1: (store as? UserDefaultsStore)?.register(defaults: [key: value])
    case 2:
      let seed = DefaultValue(key: key, value: value, source: "Root.plist:1")
      try device.seed(store: "defaults", bundle: key, [seed])
    default: store?.set(value, forKey: key)
    }
  }

  @Test(arguments: Seeds.list(12))
  func itHoldsForEveryKeyWhatObjectGives(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let device = try Device.inMemory()
    for _ in 0..<5 {
      // Seeds are read when a store is made.
      let stores: [SettingsStore] = [
        try UserDefaultsStore(on: device), try UserDefaultsStore(on: device, suite: "s"),
        try CloudKeyValueStore(on: device), try CloudKeyValueStore(on: device, name: "s"),
      ]
      for _ in 0..<12 {
        try Self.change(device, stores, &generator)
        for store in stores {
          let all = store.dictionaryRepresentation()
          #expect(Set(all.keys).isSubset(of: Self.keys), "seed \(seed)")
          for key in Self.keys {
            #expect(
              all[key] == store.object(forKey: key), "seed \(seed): \(store.storeName) \(key)")
          }
        }
      }
    }
  }

  @Test func ofKeysThatSwiftTakesForOneItHoldsTheLastByBytes() throws {
    let store = try UserDefaultsStore(on: .inMemory())
    store.set(1, forKey: "é")
    store.set(2, forKey: "e\u{301}")
    #expect(store.dictionaryRepresentation() == ["é": 1])
  }

  @Test func itIsOneSnapshotOfWhatAnotherConnectionWrites() async throws {
    let device = try Device.temporary()
    let store = try UserDefaultsStore(on: Device(path: device.path, access: .readOnly))
    let write: @Sendable (Int64) throws -> Void = { round in
      _ = try device.write(
        ["a", "m", "z"].map { LocalWrite(store: "defaults", key: $0, value: .integer(round)) })
    }
    try write(0)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in Int64(1)..<200 { #expect(throws: Never.self) { try write(round) } }
      }
      group.addTask {
        for _ in 0..<200 {
          let all = store.dictionaryRepresentation()
          #expect(all.count == 3 && all["a"] == all["m"] && all["m"] == all["z"])
        }
      }
    }
    #expect(store.dictionaryRepresentation() == ["a": 199, "m": 199, "z": 199])
  }
}
