// SPDX-License-Identifier: Apache-2.0
//
// The properties of a settings class, by reflection: what a store binds, and what is compared with
// a Settings bundle.

import KeepsakeInjection
import KeepsakeValues

extension SettingsStore {
  var storedProperties: [StoredProperty] { levels.flatMap(\.storedProperties) }

  /// The application's own classes, inherited ones first: what the library's keep for themselves
  /// does not count.
  var levels: [Mirror] {
    sequence(first: Mirror(reflecting: self), next: \.superclassMirror)
      .prefix { $0.subjectType != SettingsStore.self }
      .filter {
        $0.subjectType != UserDefaultsStore.self && $0.subjectType != CloudKeyValueStore.self
      }
      .reversed()
  }
}
