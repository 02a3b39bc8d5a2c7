// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

/// Encodes and decodes a setting's value. A value that encodes to nil removes the key.
///
/// A `SettingKey` is often computed at each use. So a type's hooks are called through its metatype,
/// not through closures, and the initialisers of keys are inlinable: the compiler can make a
/// declared key a constant.
@usableFromInline
enum SettingCodec<Value: Sendable>: Sendable {
  case hooks(any SettingHooks<Value>.Type)
  case transformer(Transformer<Value>)
  /// For an optional, by a transformer of the wrapped value; also for members.
  case closures(
    decode: @Sendable (StoredValue) throws -> Value,
    encode: @Sendable (Value) throws -> StoredValue?)

  @inlinable
  init() where Value: BackingStoreConvertible { self = .hooks(OwnHooks<Value>.self) }

  @inlinable
  init() where Value: OptionalBackingStoreConvertible { self = .hooks(OptionalHooks<Value>.self) }

  /// The value may be an optional: Swift infers `.codable` as a transformer of the optional.
  @inlinable
  init(_ transformer: Transformer<Value>) { self = .transformer(transformer) }

  @inlinable
  init<Wrapped>(optional transformer: Transformer<Wrapped>) where Value == Wrapped? {
    self = .closures(
      decode: transformer.fromBackingStore,
      encode: { try $0.map(transformer.toBackingStore) })
  }

  @inlinable
  func decode(_ stored: StoredValue) throws -> Value {
    switch self {
    case .hooks(let hooks): try hooks.decode(stored)
    case .transformer(let transformer): try transformer.fromBackingStore(stored)
    case .closures(let decode, _): try decode(stored)
    }
  }

  func encode(_ value: Value) throws -> StoredValue? {
    switch self {
    case .hooks(let hooks): return try hooks.encode(value)
    case .transformer(let transformer):
      if let optional = Value.self as? any AnyOptional.Type, optional.isNil(value) { return nil }
      return try transformer.toBackingStore(value)
    case .closures(_, let encode): return try encode(value)
    }
  }
}

/// The hooks of a type's own conformance.
@usableFromInline
protocol SettingHooks<Value>: SendableMetatype {
  associatedtype Value
  static func decode(_ stored: StoredValue) throws -> Value
  static func encode(_ value: Value) throws -> StoredValue?
}

@usableFromInline
enum OwnHooks<Value: BackingStoreConvertible>: SettingHooks {
  @usableFromInline
  static func decode(_ stored: StoredValue) throws -> Value {
    try Value.fromBackingStore(stored)
  }
  @usableFromInline
  static func encode(_ value: Value) throws -> StoredValue? { try value.toBackingStore() }
}

@usableFromInline
enum OptionalHooks<Value: OptionalBackingStoreConvertible>: SettingHooks {
  @usableFromInline
  static func decode(_ stored: StoredValue) throws -> Value {
    Value(try Value.Wrapped.fromBackingStore(stored))
  }
  @usableFromInline
  static func encode(_ value: Value) throws -> StoredValue? {
    try value.wrapped?.toBackingStore()
  }
}

/// An optional of any type.
protocol AnyOptional: SendableMetatype {
  static func isNil(_ value: Any) -> Bool
}

extension Optional: AnyOptional {
  /// A cast to `Wrapped` would succeed for the nil of a nested optional.
  static func isNil(_ value: Any) -> Bool {
    if case .some(.none) = value as? Self { true } else { false }
  }
}
