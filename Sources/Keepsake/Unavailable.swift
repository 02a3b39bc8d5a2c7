// SPDX-License-Identifier: Apache-2.0
//
// What people write and what cannot be: each overload is here for its message, which the compiler
// gives in place of one that does not say what to do.

public import KeepsakeValues

extension SettingsStore {
  @available(
    *, unavailable,
    message: "a store holds no Any: pass a StoredValue, or a type that is BackingStoreConvertible"
  )
  @_disfavoredOverload
  public func set(_ value: Any?, forKey key: String) { fatalError("unavailable") }
}

extension UserDefaultsStore {
  @available(
    *, unavailable,
    message: """
      a store holds no Any: declare the dictionary as [String: any BackingStoreConvertible]
      """
  )
  @_disfavoredOverload
  public func register(defaults: [String: Any]) { fatalError("unavailable") }
}

extension Setting {
  @available(
    *, unavailable,
    message: """
      a store cannot hold this type: conform it to BackingStoreConvertible, or say how it is \
      stored, as in @Setting(by: .rawValue) or @Setting(by: .codable)
      """
  )
  @_disfavoredOverload
  public convenience init(wrappedValue: Value, _ key: String? = nil) { fatalError("unavailable") }

  @available(
    *, unavailable,
    message: """
      a store cannot hold this type: conform it to BackingStoreConvertible, or say how it is \
      stored, as in @Setting(by: .rawValue) or @Setting(by: .codable)
      """
  )
  @_disfavoredOverload
  public convenience init(_ key: String? = nil, default: @escaping @Sendable () -> Value) {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: """
      a setting needs a default: write = and a value, or make its type an optional of one that a \
      store can hold
      """
  )
  @_disfavoredOverload
  public convenience init(_ key: String) { fatalError("unavailable") }

  @available(
    *, unavailable,
    message: """
      a setting needs a default: write = and a value, or make its type an optional of one that a \
      store can hold
      """
  )
  @_disfavoredOverload
  public convenience init(_ key: String? = nil, by transformer: Transformer<Value>) {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: """
      a structure that is stored member by member conforms to Codable, and has no key of its own: \
      @Setting(fields: "prefs.")
      """
  )
  @_disfavoredOverload
  public convenience init(wrappedValue: Value, _ key: String? = nil, fields prefix: String) {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "a structure that is stored member by member needs a default: write = and a value"
  )
  @_disfavoredOverload
  public convenience init(fields prefix: String) { fatalError("unavailable") }
}

extension SettingKey {
  @available(
    *, unavailable,
    message: """
      a store cannot hold this type: conform it to BackingStoreConvertible, or say how it is \
      stored, as in SettingKey("theme", default: .light, by: .rawValue)
      """
  )
  @_disfavoredOverload
  public init(_ name: String, default defaultValue: Value) { fatalError("unavailable") }

  @available(
    *, unavailable,
    message: """
      a store cannot hold this type: conform it to BackingStoreConvertible, or say how it is \
      stored, as in SettingKey("theme", default: { .light }, by: .rawValue)
      """
  )
  @_disfavoredOverload
  public init(_ name: String, default: @escaping @Sendable () -> Value) {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "a setting needs a default: add default:, or make its type an optional"
  )
  @_disfavoredOverload
  public init(_ name: String) { fatalError("unavailable") }
}
