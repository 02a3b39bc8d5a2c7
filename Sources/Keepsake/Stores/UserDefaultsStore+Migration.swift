// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSettingsBundle
import KeepsakeValues

extension UserDefaultsStore {
  /// Imports, once, values that an application stored elsewhere, as in Foundation's `UserDefaults`.
  ///
  ///     let old = UserDefaults.standard.persistentDomain(forName: "org.example.app")
  ///     let left = try settings.migrate(from: old ?? [:], renaming: ["vol": "volume"])
  ///
  /// The import writes a marker entry, and later calls do nothing: a value that is removed later is
  /// not imported again, unless the marker is removed too. The source is not changed.
  ///
  /// - Parameters:
  ///   - values: as in a property list.
  ///   - names: the new names of keys, by the old ones.
  ///   - marker: the key of the marker entry.
  /// - Returns: the keys that were not imported, with the reasons: the store has a value already,
  ///   it cannot hold this one, or the key is managed. Empty if the import was done before.
  /// - Throws: `KeepsakeError`; then nothing was imported.
  @discardableResult
  public func migrate(
    from values: [String: Any], renaming names: [String: String] = [:],
    marker: String = "MigratedFromUserDefaults"
  ) throws -> [String: String] {
    try transaction {
      var left: [String: String] = [:]
      if try device.entry(store: storeName, key: marker) != nil { return left }
      for (old, value) in values.sorted(by: { $0.key < $1.key }) {
        let key = names[old] ?? old
        if key == marker {
          left[old] = "this key marks the import as done"
        } else if try device.entry(store: storeName, key: key) != nil {
          left[old] = "the store has an entry of \(key) already"
        } else {
          left[old] = try problem(storing: value, for: key)
        }
      }
      try write(true, for: marker)
      return left
    }
  }

  /// Stores a value.
  ///
  /// - Returns: why it cannot be stored; nil if it is stored.
  private func problem(storing value: Any, for key: String) throws(KeepsakeError) -> String? {
    do {
      try write(try Self.stored(value), for: key)
      return nil
    } catch let error as KeepsakeError {
      guard [.invalidKey, .invalidValue, .managed].contains(error.code) else { throw error }
      return error.problem
    } catch let fault as Fault {
      return fault.what
    } catch {
      return "\(error)"
    }
  }

  /// Converts a value by way of a property list: on each platform only Foundation can distinguish
  /// its numbers from Booleans.
  private static func stored(_ value: Any) throws -> StoredValue {
    guard PropertyListSerialization.propertyList([value], isValidFor: .binary) else {
      throw Fault(
        .unexpectedElement, at: 0, "a \(type(of: value)) is no value of a property list", cure: "")
    }
    let data = try PropertyListSerialization.data(
      fromPropertyList: [value], format: .binary, options: 0)
    var limits = PropertyListLimits()
    // The store has its own limits.
    (limits.bytes, limits.textBytes) = (1 << 30, 1 << 30)
    let root = try PropertyList.parse([UInt8](data), file: "the value", limits: limits).root
    guard case .array(let elements) = root.value, let element = elements.first else {
      throw Fault(.unexpectedElement, at: 0, "Foundation has written no value", cure: "")
    }
    return try element.storedValue()
  }
}
