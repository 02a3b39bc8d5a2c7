// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSync
import KeepsakeValues
public import Logging

/// Settings that sync: the counterpart of `NSUbiquitousKeyValueStore`.
///
/// Other devices receive them when they sync (`Device.merge(with:)` or `kvsync merge`); the later
/// of two writes to one key wins. There are no seeds: a fresh install has no values that could
/// overwrite another device's settings.
// Sendable: see `SettingsStore`.
open class CloudKeyValueStore: SettingsStore, @unchecked Sendable {
  /// - Parameters:
  ///   - device: stores the settings.
  ///   - name: the name of a separate store; nil for the application's.
  ///   - durability: what a write survives once it has returned.
  ///   - logger: logs failures that could not be thrown.
  /// - Throws: `KeepsakeError` or `SettingDeclarationError`.
  public init(
    on device: Device, name: String? = nil, durability: Durability = .crashSafe,
    logger: Logger = Logger(label: "keepsake")
  ) throws {
    try super.init(
      device: device, store: StoreName.cloud(name), durability: durability, logger: logger)
  }
}

/// Whether a key of a store that syncs has a value.
public enum ValueState: Sendable, Hashable {
  /// It has a value that was set, here or on another device.
  case set
  /// Neither this device nor one that it has synced with has set it: the default is in force.
  case `default`
  /// Nothing was set here, and this store was never synced: another device may have a value.
  case notYetSynced
}

extension CloudKeyValueStore {
  /// Whether this store was never synced, is up to date as of a time, or has changes that no other
  /// device has received.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public var syncState: SyncState {
    get throws(KeepsakeError) { try device.syncState(of: storeName) }
  }

  /// Whether a key's value was set, is the default, or is unknown because this store was never
  /// synced.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public func valueState(forKey key: String) throws(KeepsakeError) -> ValueState {
    if try device.entry(store: storeName, key: key)?.content.ifValue != nil { return .set }
    return try syncState == .neverSynced ? .notYetSynced : .default
  }
}
