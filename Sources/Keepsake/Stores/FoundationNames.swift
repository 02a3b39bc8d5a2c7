// SPDX-License-Identifier: Apache-2.0
//
// The methods of `UserDefaults` and `NSUbiquitousKeyValueStore`. All of them call the subscript, so
// they read the same layers, and report failures in the same way.
//
// - A method for a type returns values of that type, and those that Foundation converts to it
//   (`StoredValue+Coercion.swift`). For every other value it returns nil, 0 or false, as
//   Foundation.
// - A value that this version cannot read is not converted: it is reported.
// - Instead of Foundation's `Any`, they use `StoredValue`, whose cases are all values that a store
//   can hold: it is Sendable and comparable, and needs no cast.
//
// https://developer.apple.com/documentation/foundation/userdefaults
// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore

import KeepsakeDevice
public import KeepsakeValues

extension SettingsStore {
  /// The value of a key, or the default of a property with this key; nil if there is neither.
  public func object(forKey key: String) -> StoredValue? { self[key] }

  /// Text; a number as text, "1" for true and "0" for false; else nil.
  public func string(forKey key: String) -> String? { value(key, \.stringValue) }

  /// An array with elements of any types; nil if the value is not an array.
  ///
  /// A cast of the result, such as `as? [String]`, always fails, because each element is a
  /// `StoredValue`. Declare the type instead:
  /// `let names: [String]? = settings.array(forKey: "names")`.
  public func array(forKey key: String) -> [StoredValue]? {
    guard case .array(let elements)? = readable(key) else { return nil }
    return elements
  }

  /// An array whose elements all have the type of the result; else nil. Numbers and text are not
  /// converted to each other.
  @_disfavoredOverload
  public func array<Element: BackingStoreConvertible>(forKey key: String) -> [Element]? {
    typed(readable(key))
  }

  /// A dictionary with members of any types; nil if the value is not a dictionary. A cast of the
  /// result fails, as for `array(forKey:)`.
  public func dictionary(forKey key: String) -> [String: StoredValue]? {
    guard case .dictionary(let members)? = readable(key) else { return nil }
    return members
  }

  /// A dictionary whose members all have the type of the result; else nil.
  @_disfavoredOverload
  public func dictionary<Member: BackingStoreConvertible>(
    forKey key: String
  ) -> [String: Member]? {
    typed(readable(key))
  }

  /// Bytes; nil if the value is not data.
  public func data(forKey key: String) -> Data? { typed(readable(key)) }

  /// A number, 1 for true, the decimal number at the start of a text; else 0.
  public func double(forKey key: String) -> Double { value(key, \.doubleValue) ?? 0 }

  /// Whether a number is not 0, or a text begins like "YES", "true" or a number that is not 0; else
  /// false.
  public func bool(forKey key: String) -> Bool { value(key, \.boolValue) ?? false }

  /// Stores a value of any type that a store can hold, or removes it if it is nil; durable when it
  /// returns. A failure is reported in `failures`, and the former value stays.
  public func set<Value: BackingStoreConvertible>(_ value: Value?, forKey key: String) {
    backing.setOrReport(key) { try value?.toBackingStore() }
  }

  /// The same for values of mixed types: `set(["size": 12, "names": ["a", 1]], forKey: "k")`.
  // It gives these literals, and a plain nil, a type.
  public func set(_ value: StoredValue?, forKey key: String) { self[key] = value }

  /// Removes what was set, so that the value of the layer below is in force.
  public func removeObject(forKey key: String) { self[key] = nil }

  /// Every key that has a value in some layer, with the result of `object(forKey:)`, all from one
  /// snapshot. A key whose value cannot be read is left out; if the file cannot be read, the result
  /// is empty. Both are reported in `failures`.
  ///
  /// A Swift dictionary holds one of several keys that are equal as strings and differ in their
  /// bytes, such as two spellings of "é": the last by bytes.
  public func dictionaryRepresentation() -> [String: StoredValue] {
    do {
      let found = try backing.valuesAndDefaults()
      backing.reportUnreadable(found.unreadable)
      let values = found.values.sorted { $0.key < $1.key }
      return Dictionary(values.map { ($0.key.string, $0.value.value) }, uniquingKeysWith: { $1 })
    } catch {
      backing.reportReadAllFailure(error)
      return [:]
    }
  }

  /// Waits until all writes of this process to the device are on stable storage, so that they
  /// survive a power cut. Other processes see a write without this, as soon as it returns.
  ///
  /// - Returns: false if this failed; `failures` has the reason. `Device.synchronize()` throws
  ///   instead.
  @discardableResult
  public func synchronize() -> Bool {
    do {
      try device.synchronize()
      return true
    } catch {
      backing.failures.report(.synchronize, error)
      return false
    }
  }

  fileprivate func typed<Value: BackingStoreConvertible>(_ value: StoredValue?) -> Value? {
    switch value.map({ value in Result { try Value.fromBackingStore(value) } }) {
    case .success(let value): value
    case .failure, nil: nil
    }
  }

  /// The result of a method for a type, by its conversion.
  @inline(__always)
  fileprivate func value<Result>(_ key: String, _ convert: (StoredValue) -> Result?) -> Result? {
    let cached = backing.cached(key) { value -> Result? in
      switch value {
      // A property may have a default, and an opaque value has to be reported.
      case nil, .opaque: nil
      case let value?: convert(value)
      }
    }
    return cached ?? readable(key).flatMap(convert)
  }

  /// The value for a method for a type. An opaque value is reported, and nil returned.
  fileprivate func readable(_ key: String) -> StoredValue? {
    let value = self[key]
    guard case .opaque? = value else { return value }
    let error = ValueError(
      .typeMismatch, "this version cannot read the stored value; a newer one may")
    backing.reportReadFailure(
      SettingFailure(.read, error, store: storeName, key: key, storedType: .opaque), of: key)
    return nil
  }
}

extension UserDefaultsStore {
  /// The integer part of a number, 1 for true, the integer at the start of a text; else 0. The
  /// nearest `Int` for a number that is out of range.
  public func integer(forKey key: String) -> Int { Int(clamping: value(key, \.integerValue) ?? 0) }

  /// The `Float` nearest to `double(forKey:)`.
  public func float(forKey key: String) -> Float { Float(double(forKey: key)) }

  /// An array of strings; nil if the value is not an array or an element is not a string.
  public func stringArray(forKey key: String) -> [String]? { typed(readable(key)) }

  /// The URL of a text with a scheme, and the file URL of any other text, which is a path and may
  /// begin with `~` for the home folder; else nil.
  ///
  /// It reads what `set(_:forKey:)` and properties of type `URL` store; but a relative URL is read
  /// as the path of a file, from the current folder.
  public func url(forKey key: String) -> URL? { readable(key)?.urlValue }

  /// Whether a managed layer has a value for a key, so that setting it only reports a failure in
  /// `failures`.
  public func objectIsForced(forKey key: String) -> Bool { isManaged(key) }

  /// Adds defaults for all stores of this kind on the device, suites too: `["volume": 5]`. A later
  /// default of a key replaces an earlier one. They are below what was set, and above the defaults
  /// of a Settings bundle.
  ///
  /// They are in memory and only in this process, as long as the device is open: register them at
  /// each launch. Nothing is written, and observers are not notified. A value that cannot be stored
  /// is reported in `failures` and left out.
  public func register(defaults: [String: any BackingStoreConvertible]) {
    var values: [ByteText: StoredValue] = [:]
    for (key, value) in defaults {
      do {
        let value = try value.toBackingStore()
        // A write would reject a value that nests too deep.
        _ = try TaggedCell(value)
        values[ByteText(key)] = value
      } catch {
        // Not `reportWriteFailure`: a transaction cannot roll this back.
        backing.failures.report(.write, error, key: key)
      }
    }
    device.shared.registered.register(values)
  }
}

extension CloudKeyValueStore {
  /// The integer part of a number, 1 for true, the integer at the start of a text; else 0. The
  /// nearest `Int64` for a number that is out of range.
  public func longLong(forKey key: String) -> Int64 { value(key, \.integerValue) ?? 0 }
}
