// SPDX-License-Identifier: Apache-2.0
//
// Layers that were given to a store. They have no list of their keys: where all keys count, they
// are asked for those of the other layers, for those of properties, and for those that were read
// before.

import KeepsakeDevice
import KeepsakeValues

extension Layers {
  /// What the value in force can be read as besides what it is; nil where it is of its own type.
  ///
  /// - Parameter value: what was found in force.
  func readings(_ key: ByteText, of value: StoredValue) throws(KeepsakeError) -> Readings? {
    guard !given.isEmpty || arguments[key] != nil else { return nil }
    for layer in stack {
      guard try layer.value(key, device) != nil else { continue }
      let readings: Readings? =
        switch layer {
        case .given(let moment): moment[key].flatMap(Readings.init)
        case .arguments(let arguments): arguments[key].map(Readings.init)
        case .entries, .registered, .seeds: nil
        }
      // Another one, where it has changed since.
      return readings?.value == value ? readings : nil
    }
    return nil
  }

  // MARK: - Given layers

  /// Who decides on a key, above what can be set.
  func manager(of key: ByteText) -> SettingExplanation.Provider? {
    guard given.contains(where: { $0.place == .managed }) else { return nil }
    return stack.lazy.compactMap(\.given)
      .filter { $0.place == .managed }.compactMap { $0[key]?.source }.first
  }

  /// Whether a given layer has a secret there, in force or not.
  func isSecret(_ key: ByteText) -> Bool {
    !given.isEmpty && stack.contains { $0.given?[key]?.source.isSecret == true }
  }

  /// Reads the given layers' present values from now on.
  ///
  /// - Parameter keys: those that count besides the ones that are known here.
  /// - Returns: for each key that has another value now, both; nil for none that can be read.
  func reload(
    _ keys: some Sequence<ByteText>
  ) throws(KeepsakeError) -> [(key: ByteText, old: StoredValue?, new: StoredValue?)] {
    let old = stack
    renew()
    let new = stack
    return try device.core.survey { _ in
      var all = asked.union(keys)
      for layer in new { all.formUnion(try layer.values(device).keys) }
      return try all.sorted().compactMap { key in
        guard (old + new).contains(where: { $0.given?[key] != nil }) else { return nil }
        let (before, after) = (try readable(key, of: old), try readable(key, of: new))
        return before == after ? nil : (key, before, after)
      }
    }
  }

  private func readable(_ key: ByteText, of stack: [Layer]) throws(KeepsakeError) -> StoredValue? {
    do {
      return try first(key, of: stack)
    } catch {
      // Who reads it is told.
      if error.code == .invalidValue { return nil }
      throw error
    }
  }
}
