// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// What a setting's transformer is, and what nil means: no value to store, so remove the key.
struct SettingCodec<Value: Sendable>: Sendable {
  let decode: @Sendable (StoredValue) throws -> Value
  let encode: @Sendable (Value) throws -> StoredValue?

  /// By a transformer of the value, which may be one of an optional: to Swift `.codable` is that.
  init(_ transformer: Transformer<Value>) {
    decode = transformer.fromBackingStore
    if let optional = Value.self as? any Nilable.Type {
      encode = { optional.isNil($0) ? nil : try transformer.toBackingStore($0) }
    } else {
      encode = transformer.toBackingStore
    }
  }

  /// By a transformer of the wrapped value.
  init<Wrapped>(optional transformer: Transformer<Wrapped>) where Value == Wrapped? {
    decode = transformer.fromBackingStore
    encode = { try $0.map(transformer.toBackingStore) }
  }

  /// The same, where `Value` cannot be written as `Wrapped?`, by the type's own hooks.
  init() where Value: OptionalBackingStoreConvertible {
    decode = { Value(try Value.Wrapped.fromBackingStore($0)) }
    encode = { try $0.wrapped?.toBackingStore() }
  }
}

/// An optional, whatever it wraps.
private protocol Nilable: SendableMetatype {
  static func isNil(_ value: Any) -> Bool
}

extension Optional: Nilable {
  fileprivate static func isNil(_ value: Any) -> Bool { value as? Wrapped == nil }
}
