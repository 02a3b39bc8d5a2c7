// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeValues

/// Reads values by key.
public protocol ReadableKeyValueStore: AnyObject, Sendable {
  /// The value of the first layer that has one; nil when none has.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  func value(for key: String) throws(KeepsakeError) -> StoredValue?
}

/// Reads and writes values by key.
public protocol KeyValueStore: ReadableKeyValueStore {
  /// Stores a value, or removes it when it is nil; durable when it returns.
  ///
  /// - Throws: `KeepsakeError`; then the store holds what it held.
  func set(_ value: StoredValue?, for key: String) throws(KeepsakeError)
}
