// SPDX-License-Identifier: Apache-2.0

import Keepsake

final class LayeredSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var a: StoredValue = "declared"
  @Setting var b: StoredValue = "declared"
  @Setting var c: StoredValue = "declared"
}

/// What a store has to give, as a list of dictionaries.
struct LayersOracle {
  /// By their places.
  var given: [SettingsLayer.Place: [String: StoredValue]] = [:]
  var arguments: [String: StoredValue] = [:]
  var entries: [String: [String: StoredValue]] = [:]
  var registered: [String: StoredValue] = [:]
  var seeds: [String: [String: StoredValue]] = [:]
  /// The last added first, with its seeds of that time.
  var suites: [(name: String, seeds: [String: StoredValue])] = []
  /// Of the store, when it was made.
  var ownSeeds: [String: StoredValue] = [:]

  var layers: [[String: StoredValue]] {
    [given[.managed] ?? [:], arguments, entries["defaults"] ?? [:]]
      + suites.map { entries["defaults:\($0.name)"] ?? [:] }
      + [given[.defaults] ?? [:], registered, ownSeeds] + suites.map(\.seeds)
  }

  func value(_ key: String) -> StoredValue? { layers.compactMap { $0[key] }.first }
}
