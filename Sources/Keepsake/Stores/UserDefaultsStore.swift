// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSettingsBundle
import KeepsakeValues
public import Logging

/// Settings of this device: the counterpart of Foundation's `UserDefaults`.
///
/// They stay on the device; no merge changes them unless it names their store. A value comes from
/// the first of: managed layers, the command line, what was set, added suites, layers of defaults,
/// `register(defaults:)`, a Settings bundle, the property of a subclass. `explain(_:)` shows which.
// Sendable: see `SettingsStore`.
open class UserDefaultsStore: SettingsStore, @unchecked Sendable {
  /// - Parameters:
  ///   - device: stores the settings.
  ///   - suite: the name of a separate store; nil for the application group of `bundle`, or for the
  ///     application's store if there is none.
  ///   - bundle: declares defaults. They are read now, and stored in the file for tools, but never
  ///     as settings: a newer bundle changes the defaults, and nothing that was set.
  ///   - layers: values from outside of the device, above what was set or below it. The first of
  ///     several at one place wins.
  ///   - arguments: win over what was set, as long as the process runs.
  ///   - durability: what a write survives once it has returned.
  ///   - logger: logs failures that could not be thrown.
  /// - Throws: `KeepsakeError` or `SettingDeclarationError`.
  public init(
    on device: Device, suite: String? = nil, seededBy bundle: SettingsBundle? = nil,
    layers: [SettingsLayer] = [], arguments: LaunchArguments = .process,
    durability: Durability = .crashSafe, logger: Logger = Logger(label: "keepsake")
  ) throws {
    try super.init(
      device: device, store: StoreName.defaults(suite: suite ?? bundle?.suite),
      layers: layers, arguments: arguments, registered: device.shared.registered,
      bundle: bundle, durability: durability, logger: logger)
  }

  /// Adds a suite, the store of `UserDefaultsStore(on:suite:)`, to the layers of this store object:
  /// its settings right below those of this store, its seeds below those of this store. The suite
  /// that was added last comes first, even if it had been added before.
  ///
  /// Nothing is written. `observe` and writes still concern this store only, and observers are not
  /// notified. The suite's seeds are read now. A failure is reported in `failures` and adds
  /// nothing; a store cannot be its own suite.
  public func addSuite(named name: String) {
    do {
      try backing.layers.addSuite(name)
    } catch {
      backing.failures.report(.addSuite, error)
    }
  }

  /// Removes a suite from the layers; has no effect if it was not added.
  public func removeSuite(named name: String) { backing.layers.removeSuite(name) }
}
