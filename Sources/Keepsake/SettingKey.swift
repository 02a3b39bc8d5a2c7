// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
public import KeepsakeValues

/// A setting's name, type and default, declared once and apart from any store:
///
/// ```swift
/// extension SettingKey where Value == Int {
///   static var volume: Self { Self("volume", default: 5) }
/// }
///
/// store[.volume] += 1                        // in any store
/// @Setting(.volume) var volume: Int          // a property of a settings class
/// let volume = try store.setting(.volume)    // a `Setting<Int>` of this store
/// ```
public struct SettingKey<Value: Sendable>: Sendable {
  /// Where the value is stored.
  public let name: String
  /// The setting's value when no layer of the store has one.
  public var defaultValue: Value { fallback.value }

  @usableFromInline let fallback: SettingDefault<Value>
  @usableFromInline let codec: SettingCodec<Value>

  @inlinable
  init(_ name: String, _ fallback: SettingDefault<Value>, _ codec: SettingCodec<Value>) {
    (self.name, self.fallback, self.codec) = (name, fallback, codec)
  }

  /// A key of a type that a store can hold.
  @inlinable
  public init(_ name: String, default defaultValue: Value) where Value: BackingStoreConvertible {
    self.init(name, .constant(defaultValue), SettingCodec())
  }

  /// A key of an optional: nil when there is no value; setting nil removes the key.
  @inlinable
  public init(
    _ name: String, default defaultValue: Value = nil
  ) where Value: OptionalBackingStoreConvertible {
    self.init(name, .constant(defaultValue), SettingCodec())
  }

  /// A key of any type, by a transformer.
  @inlinable
  public init(_ name: String, default defaultValue: Value, by transformer: Transformer<Value>) {
    self.init(name, .constant(defaultValue), SettingCodec(transformer))
  }

  /// A key of an optional, by a transformer of the wrapped type.
  @inlinable
  public init<Wrapped: Sendable>(
    _ name: String, default defaultValue: Value = nil, by transformer: Transformer<Wrapped>
  ) where Value == Wrapped? {
    self.init(name, .constant(defaultValue), SettingCodec(optional: transformer))
  }
}

extension SettingKey {
  /// What a stored value is; nil where it cannot be read, which may be a launch argument's.
  @inlinable
  func value(of stored: StoredValue?) -> Value? {
    guard let stored else { return fallback.value }
    return switch Result(catching: { try codec.decode(stored) }) {
    case .success(let value): value
    case .failure: nil
    }
  }
}

/// Two keys of one type are equal when their names have the same bytes, whatever their defaults: a
/// store has one value for both.
extension SettingKey: Hashable {
  public static func == (a: SettingKey, b: SettingKey) -> Bool { a.name.isSameBytes(as: b.name) }

  public func hash(into hasher: inout Hasher) { hasher.combine(ByteText(name)) }
}

extension Setting {
  /// A setting as a key declares it: `@Setting(.volume) var volume: Int`.
  public convenience init(_ key: SettingKey<Value>) {
    self.init(key.fallback, key: key.name, codec: key.codec)
  }
}

extension SettingsStore {
  /// The value of a key, as a property that declares it has: the first layer's that has one, else
  /// the key's default.
  ///
  /// `+=` and all else that changes the value in place is refused, and reported, if another process
  /// writes meanwhile, as for a property. A failure is reported in `failures`; the operations of
  /// `setting(_:)` throw instead.
  public subscript<Value: Sendable>(key: SettingKey<Value>) -> Value {
    // Inlined, it is code for the value's own type.
    @inlinable
    get {
      if let known = backing.knownValue(key.name), let value = key.value(of: known) { value } else {
        valueOrDefault(key)
      }
    }
    set {
      do {
        try backing.write(newValue, key, waiting: Device.setterTimeout)
      } catch {
        backing.reportWrite(key.name, error)
      }
    }
    _modify {
      let change = InPlaceChange(backing, key.name) {
        let stored = try backing.value(key.name)
        return (stored, try backing.decode(inForce: stored, key))
      }
      var value = change.value ?? key.defaultValue
      defer {
        change.end { try backing.replacements(of: $0, by: value, key) }
      }
      yield &value
    }
  }

  @inline(never) @usableFromInline
  func valueOrDefault<Value>(_ key: SettingKey<Value>) -> Value {
    do {
      return try backing.read(key)
    } catch {
      backing.reportRead(key.name, error)
      return key.defaultValue
    }
  }

  /// The setting of a key in this store: what a property would be. Keep it: each call makes one.
  ///
  /// - Throws: `SettingDeclarationError` when the key's name is empty.
  public func setting<Value: Sendable>(
    _ key: SettingKey<Value>
  ) throws(SettingDeclarationError) -> Setting<Value> {
    let setting = Setting(key)
    try bind(setting, key: key.name)
    return setting
  }
}
