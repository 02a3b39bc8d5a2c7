// SPDX-License-Identifier: Apache-2.0
//
// Typed values of a store: how the value of a key is read and written by the key's declaration.

import KeepsakeDevice
import KeepsakeValues

extension Backing {
  /// The value of the first layer that has one, else the key's default.
  func read<Value>(_ key: SettingKey<Value>) throws -> Value {
    try decode(inForce: value(key.name), key)
  }

  func decode<Value>(inForce stored: StoredValue?, _ key: SettingKey<Value>) throws -> Value {
    guard let stored else { return key.defaultValue }
    // No layer is above the arguments.
    return try decode(stored, key, of: layers.arguments[ByteText(key.name)])
  }

  /// - Parameter argument: the launch argument that has the value; nil for another layer's.
  func decode<Value>(
    _ stored: StoredValue, _ key: SettingKey<Value>, of argument: LaunchArguments.Argument?
  ) throws -> Value {
    do {
      if let argument { return try argument.read(key.codec.decode) }
      return try key.codec.decode(stored)
    } catch {
      throw failure(
        .read, error, key: key.name, storedType: stored.kind, argument: argument?.position)
    }
  }

  func encode<Value>(_ value: Value, _ key: SettingKey<Value>) throws -> StoredValue? {
    try encode(value, key.name, key.codec)
  }

  func encode<Value>(
    _ value: Value, _ key: String, _ codec: SettingCodec<Value>
  ) throws -> StoredValue? {
    do {
      return try codec.encode(value)
    } catch {
      throw failure(.write, error, key: key)
    }
  }

  /// What a change of a value where it is stores: nothing where it has not changed it, which must
  /// not count as a later write than another device's.
  func replacements<Value>(
    of read: InPlaceChange<Value>.Reading, by new: Value, _ key: SettingKey<Value>
  ) throws -> [Replacement] {
    let encoded = try encode(new, key)
    // A default need not be storable.
    if case .success(let before) = Result(catching: { try key.codec.encode(read.value) }),
      before == encoded
    {
      return []
    }
    return [Replacement(key: key.name, seen: read.stored, new: encoded)]
  }

  func write<Value>(
    _ value: Value, _ key: SettingKey<Value>, waiting limit: Duration? = nil
  ) throws {
    try set(try encode(value, key), key.name, waiting: limit)
  }
}
