// SPDX-License-Identifier: Apache-2.0

public import KeepsakeInjection
import KeepsakeSettingsBundle

extension Container.Key where Value == UserDefaultsStore {
  /// The application's settings of this device, see `StoreModules.userDefaults(_:)`.
  public static var userDefaults: Self { Self("userDefaults") }
}

extension Container.Key where Value == CloudKeyValueStore {
  /// The application's settings that sync, see `StoreModules.cloudKeyValueStore(_:)`.
  public static var cloudKeyValueStore: Self { Self("cloudKeyValueStore") }
}

/// Modules for a container, as in `Container(StoreModules.userDefaults, application)`.
///
/// Each registers a store under a well-known key. If the application registers a subclass of its
/// own, before or after, its instance is used for both keys; of several subclasses, that of the one
/// with `primary: true`. The stores are on the registered `Device`.
public enum StoreModules {
  /// Registers `.userDefaults`, seeded by the registered `SettingsBundle` if there is one.
  public static func userDefaults(_ container: Container) {
    container.register(.userDefaults) { c in
      try c.instance(ofSubclassOf: UserDefaultsStore.self)
        ?? UserDefaultsStore(on: c.get(), seededBy: c.find(Container.Key<SettingsBundle>()))
    }
  }

  /// Registers `.cloudKeyValueStore`.
  public static func cloudKeyValueStore(_ container: Container) {
    container.register(.cloudKeyValueStore) { c in
      try c.instance(ofSubclassOf: CloudKeyValueStore.self) ?? CloudKeyValueStore(on: c.get())
    }
  }
}
