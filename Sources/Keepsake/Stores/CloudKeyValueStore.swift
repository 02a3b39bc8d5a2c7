// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSync
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
  ///   - durability: what a write survives once it has returned.
  ///   - logger: gets failures that could not be thrown.
  /// - Throws: `KeepsakeError` or `SettingDeclarationError`.
  public init(
    on device: Device, name: String? = nil, durability: Durability = .crashSafe,
    logger: Logger = Logger(label: "keepsake")
  ) throws {
    try super.init(
      device: device, store: StoreName.cloud(name), durability: durability, logger: logger)
  }
}

/// What can be said of a key of a store that syncs.
public enum ValueState: Sendable, Hashable {
  /// It has a value that was set, here or on another device.
  case set
  /// No device that this one has synced with had set it: the default is in force.
  case `default`
  /// Nothing is set here, and this store was never synced: another device may have a value.
  case notYetSynced
}

extension CloudKeyValueStore {
  /// How this store stands with other devices: never synced, up to date as of a time, or with
  /// changes that no other device knows of.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public var syncState: SyncState {
    get throws(KeepsakeError) { try device.syncState(of: storeName) }
  }

  /// Whether a key's value was set, is the default, or is not known because this store was never
  /// synced.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func valueState(forKey key: String) throws(KeepsakeError) -> ValueState {
    if try device.entry(store: storeName, key: key)?.content.ifValue != nil { return .set }
    return try syncState == .neverSynced ? .notYetSynced : .default
  }
}
