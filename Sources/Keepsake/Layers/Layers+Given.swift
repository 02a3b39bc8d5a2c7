// SPDX-License-Identifier: Apache-2.0
//
// The layers that were given to a store. They cannot list their keys: a read of all keys asks them
// for the keys of the other layers and of the properties.

import KeepsakeDevice
import KeepsakeValues

extension Layers {
  /// A value, or the error of a layer that has a value and cannot read it.
  typealias Found = Result<StoredValue?, KeepsakeError>

  /// The values of all keys.
  struct Values {
    var values: [ByteText: Readings] = [:]
    /// The errors of values that their layer cannot read.
    var unreadable: [ByteText: KeepsakeError] = [:]
  }

  /// The result of `body`, or the error of a layer that cannot read its value.
  ///
  /// - Throws: other errors of `body`.
  static func found<Value>(
    _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Result<Value, KeepsakeError> {
    do throws(KeepsakeError) {
      return .success(try body())
    } catch {
      guard error.code == .invalidValue else { throw error }
      return .failure(error)
    }
  }

  /// As `first`, with the readings of the layer.
  func inForce(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> Readings? {
    for layer in stack {
      guard let value = try layer.value(key, device) else { continue }
      var found = layer.readings(key) ?? Readings(value)
      found.isSecret = stack.contains { $0.given?[key]?.source.isSecret == true }
      return found
    }
    return nil
  }

  /// The readings of the value in force; nil if its layer declares its type.
  ///
  /// - Parameter value: the value that was read in force.
  func readings(_ key: ByteText, of value: StoredValue) throws(KeepsakeError) -> Readings? {
    guard !given.isEmpty || arguments[key] != nil else { return nil }
    let found = try inForce(key, of: stack)
    // The value may have changed since it was read.
    return found?.value == value ? found : nil
  }

  // MARK: - Given layers

  /// The provider of a key's managed value; nil for none.
  func manager(of key: ByteText) -> SettingExplanation.Provider? {
    guard given.contains(where: { $0.place == .managed }) else { return nil }
    return stack.lazy.compactMap(\.given)
      .filter { $0.place == .managed }.compactMap { $0[key]?.source }.first
  }

  /// Reads the given layers' present values from now on.
  ///
  /// - Parameter keys: is asked when that is so; gives those that count besides the ones that are
  ///   known here, or nil if no observer is to be notified of the change.
  /// - Returns: for each key that has another value now, both; nil for none that can be read.
  func reload(
    _ keys: () -> [ByteText]?
  ) throws(KeepsakeError) -> [(key: ByteText, old: StoredValue?, new: StoredValue?)] {
    let old = stack
    guard given.map(\.moment.count) != moments.map(\.count) else { return [] }
    renew()
    // After `renew`: an observer that is added in between reads the new values.
    guard let keys = keys() else { return [] }
    let new = stack
    return try device.core.survey { _ in
      var all = Set(keys)
      for layer in new { all.formUnion(try layer.values(device).keys) }
      return try all.sorted().compactMap { key in
        guard (old + new).contains(where: { $0.given?[key] != nil }) else { return nil }
        let (before, after) = (try readable(key, of: old), try readable(key, of: new))
        return before == after ? nil : (key, before, after)
      }
    }
  }

  private func readable(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> StoredValue? {
    switch try Self.found({ () throws(KeepsakeError) in try first(key, of: stack) }) {
    case .success(let value): value
    // Readers of the value report the failure.
    case .failure: nil
    }
  }
}
