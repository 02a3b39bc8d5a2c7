// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSettingsBundle
public import Logging

/// Settings of this device: the counterpart of Foundation's `UserDefaults`.
///
/// They stay on the device; no merge touches them unless it names their store. Defaults come from a
/// Settings bundle and from the properties of a subclass.
// Sendable: see `SettingsStore`.
open class UserDefaultsStore: SettingsStore, @unchecked Sendable {
  /// - Parameters:
  ///   - device: where the settings are kept.
  ///   - suite: a name for settings of their own; nil for the one that `bundle` names as its
  ///     application group, else for the application's.
  ///   - bundle: declares defaults. They are read now, and kept in the file for tools; they are
  ///     never written as settings, so a newer bundle changes the defaults and nothing that was
  ///     set.
  ///   - durability: what a write survives once it has returned.
  ///   - logger: hears of failures that could not be thrown.
  /// - Throws: `KeepsakeError` or `SettingDeclarationError`.
  public init(
    on device: Device, suite: String? = nil, seededBy bundle: SettingsBundle? = nil,
    durability: Durability = .crashSafe, logger: Logger = Logger(label: "keepsake")
  ) throws {
    try super.init(
      device: device,
      store: (suite ?? bundle?.suite).map { "defaults:\($0)" } ?? "defaults",
      registered: device.core.shared.registered, bundle: bundle, durability: durability,
      logger: logger)
  }
}
