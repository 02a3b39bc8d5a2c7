// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Setting {
  /// Explains where the value comes from: each layer that has the key, the default declared here
  /// last; and whether the value in force can be read. For a setting that is stored member by
  /// member, `members` explains each of them.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read, `SettingDeclarationError` if this
  ///   setting is not a property of a store.
  public func explain() throws -> SettingExplanation {
    let bound = try bound()
    let found = try bound.backing.layers.explanations(bound.keys)
    var explanations = found.map(\.explanation)
    // The explanation has the problem of a value that its layer cannot read.
    let inForce = try bound.stored(in: found.map(\.inForce)) { _ in }
    var failures: [SettingFailure] = []
    do {
      _ = try decode(inForce: inForce, of: bound) { failures.append($0) }
    } catch let failure as SettingFailure {
      failures.append(failure)
    }
    for (index, key) in declaredKeys(bound.key).enumerated() {
      let failure = failures.first { $0.key.isSameBytes(as: key.key) }
      explanations[index].problem =
        failure.map { "\($0.cause)" } ?? explanations[index].inForce?.source.provider?.problem
      explanations[index].layers.append(SettingExplanation.Layer(key.fallback.encoded))
    }
    guard bound.layout != nil else { return explanations[0] }
    return SettingExplanation(
      store: bound.backing.store, key: bound.key, layers: [], members: explanations)
  }

  /// Whether nothing was set: the value is a registered default, a seed or the default declared
  /// here. False for a value that was set here or in an added suite, for a launch argument, and for
  /// a managed value, also if the setting cannot read it.
  ///
  /// - Throws: as `explain()`.
  public var isDefault: Bool {
    get throws {
      let bound = try bound()
      return try bound.backing.layers.explanations(bound.keys).allSatisfy {
        $0.explanation.inForce?.source.isDefault ?? true
      }
    }
  }

  /// Whether a managed layer has the value, or that of a member, so that it cannot be set: see
  /// `SettingsStore.isManaged(_:)`.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public var isManaged: Bool {
    get throws {
      let bound = try bound()
      return bound.keys.contains { bound.backing.layers.manager(of: $0) != nil }
    }
  }
}

extension SettingsStore {
  /// Whether a managed layer has a value for a key: then `write(_:for:)` throws a
  /// `KeepsakeError` with the code `managed`, a setter reports it, and nothing is written.
  public func isManaged(_ key: String) -> Bool { backing.layers.manager(of: key) != nil }

  /// Explains where the value of a key comes from: each layer that has the key, from one snapshot,
  /// the default of the property with the key last. `$name.explain()` also shows whether the
  /// property can read the value.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public func explain(_ key: String) throws(KeepsakeError) -> SettingExplanation {
    var explanation = try backing.explanation(key)
    if let declared = backing.declaredDefault(ByteText(key)) {
      explanation.layers.append(SettingExplanation.Layer(declared))
    }
    return explanation
  }
}
