// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSettingsBundle
import KeepsakeValues

extension UserDefaultsStore {
  /// Takes over, once, what an application kept elsewhere, as in Foundation's `UserDefaults`.
  ///
  ///     let old = UserDefaults.standard.persistentDomain(forName: "org.example.app")
  ///     let left = try settings.migrate(from: old ?? [:], renaming: ["vol": "volume"])
  ///
  /// The store notes in an entry that this was done, and from then on it does nothing: a value that
  /// is removed later does not come back, unless that entry is removed, too. Nothing is removed
  /// elsewhere.
  ///
  /// - Parameters:
  ///   - values: as in a property list.
  ///   - names: the keys that have another name here.
  ///   - marker: the key of the entry that notes it.
  /// - Returns: the keys that were not taken over, with the reasons: the store has a value already,
  ///   cannot hold this one, or the key is managed. None if it was done before.
  /// - Throws: `KeepsakeError`; then nothing was taken over.
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
          left[old] = "the store notes under this key that it was done"
        } else if try device.entry(store: storeName, key: key) != nil {
          left[old] = "the store has an entry of \(key) already"
        } else {
          left[old] = try take(value, for: key)
        }
      }
      try write(true, for: marker)
      return left
    }
  }

  /// - Returns: why a value cannot be stored; nil if it is.
  private func take(_ value: Any, for key: String) throws(KeepsakeError) -> String? {
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

  /// A value by way of a property list: on each platform Foundation alone knows which of its
  /// numbers are Booleans.
  private static func stored(_ value: Any) throws -> StoredValue {
    guard PropertyListSerialization.propertyList([value], isValidFor: .binary) else {
      throw Fault(
        .unexpectedElement, at: 0, "a \(type(of: value)) is no value of a property list", cure: "")
    }
    let data = try PropertyListSerialization.data(
      fromPropertyList: [value], format: .binary, options: 0)
    var limits = PropertyListLimits()
    // The store has a limit of its own.
    (limits.bytes, limits.textBytes) = (1 << 30, 1 << 30)
    let root = try PropertyList.parse([UInt8](data), file: "the value", limits: limits).root
    guard case .array(let elements) = root.value, let element = elements.first else {
      throw Fault(.unexpectedElement, at: 0, "Foundation has written no value", cure: "")
    }
    return try element.storedValue()
  }
}
