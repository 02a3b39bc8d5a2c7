// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// How a setting's value becomes a stored one, and back. No value to store means: remove the key.
struct SettingCodec<Value: Sendable>: Sendable {
  let decode: @Sendable (StoredValue) throws -> Value
  let encode: @Sendable (Value) throws -> StoredValue?

  /// The same for an optional: nil is the absence of a value.
  func ofOptional() -> SettingCodec<Value?> {
    SettingCodec<Value?>(decode: decode, encode: { try $0.flatMap(encode) })
  }
}

extension SettingCodec where Value: BackingStoreConvertible {
  /// By the type's own hooks.
  static var own: SettingCodec {
    SettingCodec(decode: Value.fromBackingStore, encode: { try $0.toBackingStore() })
  }
}

extension SettingCodec where Value: OptionalBackingStoreConvertible {
  /// By the hooks of the wrapped type.
  static var optional: SettingCodec {
    SettingCodec(
      decode: { Value(try Value.Wrapped.fromBackingStore($0)) },
      encode: { try $0.wrapped?.toBackingStore() })
  }
}

extension SettingCodec {
  /// By hooks given for one property, through a type that a store can hold.
  static func hooks<Stored: BackingStoreConvertible>(
    _ fromBackingStore: @escaping @Sendable (Stored) throws -> Value?,
    _ toBackingStore: @escaping @Sendable (Value) throws -> Stored
  ) -> SettingCodec {
    SettingCodec(
      decode: { stored in
        guard let value = try fromBackingStore(Stored.fromBackingStore(stored)) else {
          throw ValueError(
            .invalid, "the stored value is not a \(Value.self); set it anew, or mend the hook")
        }
        return value
      },
      encode: { try toBackingStore($0).toBackingStore() })
  }
}
