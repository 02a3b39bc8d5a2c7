// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeValues
public import Logging

/// Settings that sync: the counterpart of `NSUbiquitousKeyValueStore`.
///
/// What is set here reaches other devices when they sync (`Device.merge(with:)` or `kvsync merge`);
/// of two writes to one key the later wins. There are no seeds: a fresh install has nothing that
/// could overwrite another device's settings.
// Sendable: see `SettingsStore`.
open class CloudKeyValueStore: SettingsStore, @unchecked Sendable {
  /// - Parameters:
  ///   - device: where the settings are kept.
  ///   - name: a name for settings of their own, nil for the application's.
  ///   - limits: how much the store may come to hold by writes on this device, as `.iCloud`; nil
  ///     for no limits. A write beyond is refused with the error `quotaExceeded`; a merge never is.
  ///   - durability: what a write survives once it has returned.
  ///   - logger: gets failures that could not be thrown.
  /// - Throws: `KeepsakeError` or `SettingDeclarationError`.
  public init(
    on device: Device, name: String? = nil, limits: StoreLimits? = nil,
    durability: Durability = .crashSafe,
    logger: Logger = Logger(label: "keepsake")
  ) throws {
    try super.init(
      device: device, store: StoreName.cloud(name), durability: durability,
      limits: limits, logger: logger)
  }
}
