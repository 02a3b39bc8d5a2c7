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
    try stored.map { try decode(inForce: $0, key.name, key.codec.decode) } ?? key.defaultValue
  }

  /// Decodes the value in force, or another reading of it if its layer leaves the type to the
  /// reader.
  ///
  /// - Throws: `SettingFailure`, unless the file cannot be read.
  func decode<Value>(
    inForce stored: StoredValue, _ key: String, _ decode: (StoredValue) throws -> Value
  ) throws -> Value {
    let refusal: any Error
    do {
      return try decode(stored)
    } catch {
      refusal = error
    }
    let readings = try layers.readings(ByteText(key), of: stored)
    do {
      guard let readings else { throw refusal }
      return try readings.read(after: refusal, decode)
    } catch {
      throw failure(.read, error, key: key, storedType: stored.kind, readings: readings)
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

  /// The values that an in-place change stores: none if the value is unchanged, because a write of
  /// the same value would win over another device's change.
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
