// SPDX-License-Identifier: Apache-2.0
//
// Settings by keys that are declared apart from a store.

import KeepsakeDevice

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
      if let known = backing.knownValue(key.name), let value = key.value(of: known) {
        value
      } else {
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
