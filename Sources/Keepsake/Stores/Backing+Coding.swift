// SPDX-License-Identifier: Apache-2.0
//
// Decodes and encodes the values of a store by the declarations of their keys.

import KeepsakeDevice
import KeepsakeValues

extension Backing {
  /// The value in force, else the key's default.
  func decode<Value>(inForce stored: StoredValue?, of key: SettingKey<Value>) throws -> Value {
    guard let stored else { return key.defaultValue }
    return try decode(inForce: stored, of: key.name, by: key.codec.decode)
  }

  /// Decodes the value in force, or another reading of it if its layer does not declare its type.
  ///
  /// - Throws: `SettingFailure`, unless the file cannot be read.
  func decode<Value>(
    inForce stored: StoredValue, of key: String, by decode: (StoredValue) throws -> Value
  ) throws -> Value {
    let refusal: any Error
    do {
      return try decode(stored)
    } catch {
      refusal = error
    }
    let untyped = try layers.untypedValue(ByteText(key), equalTo: stored)
    do {
      guard let untyped else { throw refusal }
      return try untyped.decodeOtherReading(after: refusal, decode)
    } catch {
      throw SettingFailure(
        .read, error, store: store, key: key, storedType: stored.kind, value: untyped)
    }
  }

  func encode<Value>(
    _ value: Value, for key: String, by codec: SettingCodec<Value>
  ) throws -> StoredValue? {
    do {
      return try codec.encode(value)
    } catch {
      throw SettingFailure(.write, error, store: store, key: key)
    }
  }

  /// The values that a change stores: none if the value is unchanged, because a write of the same
  /// value would win over another device's change.
  func replacements<Value>(
    of read: InPlaceChange<Value>.Reading, by new: Value, for key: SettingKey<Value>
  ) throws -> [Replacement] {
    let encoded = try encode(new, for: key.name, by: key.codec)
    // A default need not be storable.
    if case .success(let before) = Result(catching: { try key.codec.encode(read.value) }),
      before == encoded
    {
      return []
    }
    return [Replacement(key: key.name, seen: read.stored, new: encoded)]
  }
}
