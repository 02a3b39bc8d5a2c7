// SPDX-License-Identifier: Apache-2.0
//
// Layers that were given to a store. They have no list of their keys: where all keys count, they
// are asked for those of the other layers and for those of properties.

import KeepsakeDevice
import KeepsakeValues

extension Layers {
  /// A value, or the failure of the layer that has it and cannot give it.
  typealias Found = Result<StoredValue?, KeepsakeError>

  /// Those of all keys.
  struct Values {
    var values: [ByteText: Readings] = [:]
    /// Those that their layer cannot give.
    var unreadable: [ByteText: KeepsakeError] = [:]
  }

  /// What `body` finds, or why a layer cannot give it.
  ///
  /// - Throws: what else `body` throws.
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

  /// As `first`, with what the layer says of the value.
  func inForce(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> Readings? {
    for layer in stack {
      guard let value = try layer.value(key, device) else { continue }
      var found = layer.readings(key) ?? Readings(value)
      found.isSecret = stack.contains { $0.given?[key]?.source.isSecret == true }
      return found
    }
    return nil
  }

  /// What the value in force can be read as besides what it is; nil where it is of its own type.
  ///
  /// - Parameter value: what was found in force.
  func readings(_ key: ByteText, of value: StoredValue) throws(KeepsakeError) -> Readings? {
    guard !given.isEmpty || arguments[key] != nil else { return nil }
    let found = try inForce(key, of: stack)
    // Another one, where it has changed since.
    return found?.value == value ? found : nil
  }

  // MARK: - Given layers

  /// Who decides on a key, above what can be set.
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
    // Not before: who begins to observe in between reads what is new.
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
    // Its readers are notified.
    case .failure: nil
    }
  }
}
