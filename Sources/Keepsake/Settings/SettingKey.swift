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
  /// The setting's value if no layer of the store has one.
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

  /// A key of an optional: nil if there is no value; setting nil removes the key.
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
  /// Decodes a stored value; nil if that fails, as it may for a launch argument.
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
