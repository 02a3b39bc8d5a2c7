// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeValues

/// What a layer gives, as a test says it.
struct GivenValues: ProvidedValues {
  /// By key, as each type that a value can be had as; none for one that cannot be given.
  var readings: [String: [StoredValue]] = [:]
  var secrets: Set<String> = []

  func value(_ key: String) -> ProvidedValue? {
    guard let readings = readings[key] else { return nil }
    let name = key.uppercased()
    guard !readings.isEmpty else {
      return ProvidedValue(unreadable: "it is broken", provider: "Given", key: name)
    }
    return ProvidedValue(
      readings, provider: "Given", key: name, isSecret: secrets.contains(key))
  }
}

extension SettingsLayer {
  static func given(
    _ place: Place, _ values: [String: [StoredValue]] = [:], secrets: Set<String> = []
  ) -> SettingsLayer {
    SettingsLayer(place, GivenValues(readings: values, secrets: secrets))
  }

  /// Another value under some keys, nil for none, from now on.
  func give(_ values: [String: [StoredValue]?]) {
    reload { old in
      guard var new = old as? GivenValues else { return old }
      for (key, value) in values { new.readings[key] = value }
      return new
    }
  }
}
