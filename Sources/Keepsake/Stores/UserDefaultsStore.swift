// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSettingsBundle
import KeepsakeValues
public import Logging

/// Settings of this device: the counterpart of Foundation's `UserDefaults`.
///
/// They stay on the device; no merge touches them unless it names their store. A value comes from
/// the first of: managed layers, the command line, what was set, added suites, layers of defaults,
/// `register(defaults:)`, a Settings bundle, the property of a subclass. `explain(_:)` says which.
// Sendable: see `SettingsStore`.
open class UserDefaultsStore: SettingsStore, @unchecked Sendable {
  /// - Parameters:
  ///   - device: where the settings are kept.
  ///   - suite: a name for settings of their own; nil for the one that `bundle` names as its
  ///     application group, else for the application's.
  ///   - bundle: declares defaults. They are read now, and kept in the file for tools; they are
  ///     never written as settings, so a newer bundle changes the defaults and nothing that was
  ///     set.
  ///   - layers: values that others keep, above what was set or below it; of two alike the first
  ///     comes first.
  ///   - arguments: win over what was set, for as long as the process runs.
  ///   - durability: what a write survives once it has returned.
  ///   - logger: gets failures that could not be thrown.
  /// - Throws: `KeepsakeError` or `SettingDeclarationError`.
  public init(
    on device: Device, suite: String? = nil, seededBy bundle: SettingsBundle? = nil,
    layers: [SettingsLayer] = [], arguments: LaunchArguments = .process,
    durability: Durability = .crashSafe, logger: Logger = Logger(label: "keepsake")
  ) throws {
    try super.init(
      device: device, store: StoreName.defaults(suite: suite ?? bundle?.suite),
      layers: layers, arguments: arguments, registered: device.core.shared.registered,
      bundle: bundle, durability: durability, logger: logger)
  }

  /// Lets this store object see a suite, the store that `UserDefaultsStore(on:suite:)` gives: what
  /// was set there right below what was set here, its seeds below those of this store. Of several
  /// suites the last added comes first, also when it had been added before.
  ///
  /// Nothing is written or announced, `observe` still follows this store only, and writes still go
  /// here. Seeds are read now. A failure, and a store that would be its own suite, is reported in
  /// `failures`, and changes nothing.
  public func addSuite(named name: String) {
    do {
      try backing.layers.addSuite(name)
    } catch {
      backing.report(.addSuite, error)
    }
  }

  /// Takes a suite away again; one that was not added makes no difference.
  public func removeSuite(named name: String) { backing.layers.removeSuite(name) }
}
