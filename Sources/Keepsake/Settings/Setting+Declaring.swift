// SPDX-License-Identifier: Apache-2.0
//
// The declarations of a setting: by the type's own hooks or by a transformer for one property;
// plain or optional.

public import KeepsakeValues

extension Setting {
  /// A setting of a type that a store can hold.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default, given by assignment.
  ///   - key: where it is stored; the property's name unless given.
  public convenience init(
    wrappedValue: Value, _ key: String? = nil
  ) where Value: BackingStoreConvertible {
    self.init(.constant(wrappedValue), key: key, codec: SettingCodec())
  }

  @available(
    *, unavailable,
    message: """
      a store cannot hold this type: conform it to BackingStoreConvertible, or say how it is \
      stored, as in @Setting(by: .rawValue) or @Setting(by: .codable)
      """
  )
  @_disfavoredOverload
  public convenience init(wrappedValue: Value, _ key: String? = nil) { fatalError("unavailable") }
}

extension Setting where Value: OptionalBackingStoreConvertible {
  /// The same for an optional: nil if there is no value; setting nil removes the key.
  public convenience init(wrappedValue: Value = nil, _ key: String? = nil) {
    self.init(.constant(wrappedValue), key: key, codec: SettingCodec())
  }
}

extension Setting {
  /// A setting declared by a key: `@Setting(.volume) var volume: Int`.
  public convenience init(_ key: SettingKey<Value>) {
    self.init(key.fallback, key: key.name, codec: key.codec)
  }

  /// A setting of any type, by a transformer for this one property.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - key: where it is stored; the property's name unless given.
  ///   - transformer: how a value is stored.
  public convenience init(
    wrappedValue: Value, _ key: String? = nil, by transformer: Transformer<Value>
  ) {
    self.init(.constant(wrappedValue), key: key, codec: SettingCodec(transformer))
  }

  /// An optional setting by a transformer of the wrapped type: nil if there is no value; setting
  /// nil removes the key.
  public convenience init<Wrapped: Sendable>(
    wrappedValue: Value = nil, _ key: String? = nil, by transformer: Transformer<Wrapped>
  ) where Value == Wrapped? {
    self.init(.constant(wrappedValue), key: key, codec: SettingCodec(optional: transformer))
  }

  /// A setting whose default is computed: `@Setting(default: { Date() }) var installed: Date`.
  ///
  /// - Parameters:
  ///   - key: where it is stored; the property's name unless given.
  ///   - default: computes the default at each read, as long as no layer of the store has a value;
  ///     the result is not stored.
  public convenience init(
    _ key: String? = nil, default: @escaping @Sendable () -> Value
  ) where Value: BackingStoreConvertible {
    self.init(.computed(`default`), key: key, codec: SettingCodec())
  }

  /// The same for any type, by a transformer for this one property.
  public convenience init(
    _ key: String? = nil, default: @escaping @Sendable () -> Value,
    by transformer: Transformer<Value>
  ) {
    self.init(.computed(`default`), key: key, codec: SettingCodec(transformer))
  }

  /// A setting of any type, by hooks for this one property: a `Transformer` made in place.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - key: where it is stored; the property's name unless given.
  ///   - fromBackingStore: decodes a stored value; returns nil or throws if it cannot.
  ///   - toBackingStore: encodes a value; throws if it cannot be stored.
  public convenience init<Stored: BackingStoreConvertible>(
    wrappedValue: Value, _ key: String? = nil,
    fromBackingStore: @escaping @Sendable (Stored) throws -> Value?,
    toBackingStore: @escaping @Sendable (Value) throws -> Stored
  ) {
    self.init(
      wrappedValue: wrappedValue, key,
      by: Transformer(fromBackingStore: fromBackingStore, toBackingStore: toBackingStore))
  }

  /// The same for an optional setting. The hooks get the wrapped value only.
  public convenience init<Wrapped: Sendable, Stored: BackingStoreConvertible>(
    wrappedValue: Value = nil, _ key: String? = nil,
    fromBackingStore: @escaping @Sendable (Stored) throws -> Wrapped?,
    toBackingStore: @escaping @Sendable (Wrapped) throws -> Stored
  ) where Value == Wrapped? {
    self.init(
      wrappedValue: wrappedValue, key,
      by: Transformer<Wrapped>(fromBackingStore: fromBackingStore, toBackingStore: toBackingStore))
  }
}
