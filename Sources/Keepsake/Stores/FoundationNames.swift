// SPDX-License-Identifier: Apache-2.0
//
// The names that users of `UserDefaults` and `NSUbiquitousKeyValueStore` know, each over the
// subscript: what the subscript reads, and where it reports what it cannot read or write, holds for
// all of them.
//
// - A name that says a type gives values of that type, and those that Foundation converts to it
//   (`Coercion.swift`). To every other value it is blind, as in Foundation: nil, 0 or false.
// - A value that this version cannot read is not taken for another type: it is reported.
// - Where Foundation says `Any`, these say `StoredValue`, whose cases are all that a store can
//   hold: unlike `Any` it is Sendable and comparable, and none of it has to be cast.
//
// https://developer.apple.com/documentation/foundation/userdefaults
// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore

import KeepsakeDevice
public import KeepsakeValues

extension SettingsStore {
  /// The value of a key, of a property also its default; nil when no layer has one.
  public func object(forKey key: String) -> StoredValue? { self[key] }

  /// Text; a number as text, "1" for true and "0" for false; else nil.
  public func string(forKey key: String) -> String? { value(key, \.stringValue) }

  /// Elements of any types; nil when the value is not an array.
  ///
  /// A cast of the result never succeeds, as an element is a `StoredValue` whatever it holds: where
  /// you write `as? [String]` for `UserDefaults`, say the type:
  /// `let names: [String]? = settings.array(forKey: "names")`.
  public func array(forKey key: String) -> [StoredValue]? {
    guard case .array(let elements)? = readable(key) else { return nil }
    return elements
  }

  /// The elements of an array when all of them have the type that the result is to have; else nil.
  /// A number is not taken for text, nor the other way round.
  @_disfavoredOverload
  public func array<Element: BackingStoreConvertible>(forKey key: String) -> [Element]? {
    typed(readable(key))
  }

  /// Members of any types; nil when the value is not a dictionary. To cast it is as vain as for
  /// `array(forKey:)`.
  public func dictionary(forKey key: String) -> [String: StoredValue]? {
    guard case .dictionary(let members)? = readable(key) else { return nil }
    return members
  }

  /// The members of a dictionary when all of them have the type that the result is to have; else
  /// nil.
  @_disfavoredOverload
  public func dictionary<Member: BackingStoreConvertible>(
    forKey key: String
  ) -> [String: Member]? {
    typed(readable(key))
  }

  /// Bytes; nil when the value is not data.
  public func data(forKey key: String) -> Data? {
    guard case .data(let bytes)? = readable(key) else { return nil }
    return bytes
  }

  /// A number, 1 for true, the decimal number that a text begins with; else 0.
  public func double(forKey key: String) -> Double { value(key, \.doubleValue) ?? 0 }

  /// Whether a number is not 0, or a text begins like "YES", "true" or a number that is not 0; else
  /// false.
  public func bool(forKey key: String) -> Bool { value(key, \.boolValue) ?? false }

  /// Stores a value of any type that a store can hold, or removes it when it is nil; durable when
  /// it returns. A failure is reported in `failures`, and leaves what was there.
  public func set<Value: BackingStoreConvertible>(_ value: Value?, forKey key: String) {
    do {
      try backing.set(value?.toBackingStore(), key, waiting: Device.setterTimeout)
    } catch {
      backing.reportWrite(key, error)
    }
  }

  /// The same for values of mixed types: `set(["size": 12, "names": ["a", 1]], forKey: "k")`.
  // Without it neither these literals nor a plain nil would have a type.
  public func set(_ value: StoredValue?, forKey key: String) { self[key] = value }

  /// Removes what was set, which uncovers the layer below.
  public func removeObject(forKey key: String) { self[key] = nil }

  /// Every key that has a value in some layer, with that value: what `object(forKey:)` gives, for
  /// all keys at one moment. A key whose layer cannot give its value is left out; when the file
  /// cannot be read, all are. Either is reported in `failures`.
  ///
  /// Of keys that differ in their bytes only, as two spellings of "é" do, a Swift dictionary holds
  /// one: the last by bytes.
  public func dictionaryRepresentation() -> [String: StoredValue] {
    do {
      let found = try backing.valuesAndDefaults()
      backing.report(found.unreadable)
      let values = found.values.sorted { $0.key < $1.key }
      return Dictionary(values.map { ($0.key.string, $0.value.value) }, uniquingKeysWith: { $1 })
    } catch {
      backing.reportReadAll(error)
      return [:]
    }
  }

  /// Waits until everything that this process has written to the device is on stable storage, where
  /// it survives a power cut. Other processes see a write when it returns, without this.
  ///
  /// - Returns: whether it is; if not, `failures` says why. `Device.synchronize()` throws instead.
  @discardableResult
  public func synchronize() -> Bool {
    do {
      try device.synchronize()
      return true
    } catch {
      backing.report(.synchronize, error)
      return false
    }
  }

  private func typed<Value: BackingStoreConvertible>(_ value: StoredValue?) -> Value? {
    switch value.map({ value in Result { try Value.fromBackingStore(value) } }) {
    case .success(let value): value
    case .failure, nil: nil
    }
  }

  /// What a name that says its type makes of a value.
  @inline(__always)
  fileprivate func value<Result>(_ key: String, _ convert: (StoredValue) -> Result?) -> Result? {
    let known = backing.known(key) { value -> Result? in
      switch value {
      // The default of a property may be below the layers, and what is opaque is reported.
      case nil, .opaque: nil
      case let value?: convert(value)
      }
    }
    return known ?? readable(key).flatMap(convert)
  }

  /// The value for a name that says its type.
  fileprivate func readable(_ key: String) -> StoredValue? {
    let value = self[key]
    guard case .opaque? = value else { return value }
    let error = ValueError(
      .typeMismatch, "this version cannot read the stored value; a newer one may")
    backing.reportRead(key, backing.failure(.read, error, key: key, storedType: .opaque))
    return nil
  }
}

extension UserDefaultsStore {
  /// A number cut to its whole part, 1 for true, the whole number that a text begins with, the
  /// nearest `Int` where one is out of range; else 0.
  public func integer(forKey key: String) -> Int { Int(clamping: value(key, \.integerValue) ?? 0) }

  /// The `Float` nearest to `double(forKey:)`.
  public func float(forKey key: String) -> Float { Float(double(forKey: key)) }

  /// The strings of an array; nil when the value is not an array or an element is not a string.
  public func stringArray(forKey key: String) -> [String]? {
    let strings: [String]? = array(forKey: key)
    return strings
  }

  /// The URL that a text with a scheme is, and the file whose path any other text is, where `~`
  /// stands for the home folder; else nil.
  ///
  /// It reads what `set(_:forKey:)` and properties of type `URL` store; but a relative URL becomes
  /// the path of a file, from the current folder.
  public func url(forKey key: String) -> URL? { readable(key)?.urlValue }

  /// Whether a managed layer has a value for a key, so that setting it has no effect
  /// but a report in `failures`.
  public func objectIsForced(forKey key: String) -> Bool { isManaged(key) }

  /// Adds defaults for all stores of this kind on the device, suites too: `["volume": 5]`. Of two
  /// for one key the later counts; both are below what was set, and above what a Settings bundle
  /// declares.
  ///
  /// They are in memory and only in this process, for as long as the device is open: register them
  /// at each launch. Nothing is written or announced. A value that cannot be stored is reported in
  /// `failures` and left out.
  public func register(defaults: [String: any BackingStoreConvertible]) {
    var values: [ByteText: StoredValue] = [:]
    for (key, value) in defaults {
      do {
        let value = try value.toBackingStore()
        // One that nests too deep would be refused when it is set.
        _ = try TaggedCell(value)
        values[ByteText(key)] = value
      } catch {
        // Nothing that a transaction could take back.
        backing.report(.write, error, key: key)
      }
    }
    device.core.shared.registered.register(values)
  }
}

extension CloudKeyValueStore {
  /// A number cut to its whole part, 1 for true, the whole number that a text begins with, the
  /// nearest `Int64` where one is out of range; else 0.
  public func longLong(forKey key: String) -> Int64 { value(key, \.integerValue) ?? 0 }
}
