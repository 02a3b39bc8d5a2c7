// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSync
import KeepsakeValues

/// What can be said of a key of a store that syncs.
public enum ValueState: Sendable, Hashable {
  /// It has a value that was set, here or on another device.
  case set
  /// No device that this one has synced with had set it: the default is in force.
  case `default`
  /// Nothing is set here, and this device has not met any other: one may have a value.
  case notYetMet
}

extension CloudKeyValueStore {
  /// How this store stands with other devices: never met, up to date as of a time, or with changes
  /// that no other device knows of.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public var syncState: SyncState {
    get throws(KeepsakeError) { try device.syncState(of: storeName) }
  }

  /// Whether a key's value was set, is the default, or is not known because no other device was
  /// met.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func valueState(forKey key: String) throws(KeepsakeError) -> ValueState {
    if try device.entry(store: storeName, key: key)?.content.ifValue != nil { return .set }
    return try syncState == .neverMet ? .notYetMet : .default
  }
}
