// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Setting {
  /// Where the value comes from: every layer that has something to say, in the end the default
  /// declared here; and whether the value in force can be read. Of a setting that is stored member
  /// by member, the same of each, in `members`.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read, `SettingDeclarationError` if this
  ///   setting is not a property of a store.
  public func explain() throws -> SettingExplanation {
    let bound = try bound()
    let found = try bound.backing.layers.explanations(bound.keys)
    var explanations = found.map(\.explanation)
    // The layer itself reports one that it cannot give.
    let inForce = bound.form(
      of: found.map { if case .success(let value) = $0.inForce { value } else { nil } })
    var failures: [SettingFailure] = []
    do {
      _ = try decode(inForce: inForce, bound) { failures.append($0) }
    } catch let failure as SettingFailure {
      failures.append(failure)
    }
    for (place, key) in declaredKeys(bound.key).enumerated() {
      let failure = failures.first { $0.key.isSameBytes(as: key.key) }
      explanations[place].problem =
        failure.map { "\($0.cause)" } ?? explanations[place].inForce?.source.problem
      explanations[place].layers.append(
        SettingExplanation.Layer(key.fallback.encoded))
    }
    guard bound.fields != nil else { return explanations[0] }
    return SettingExplanation(
      store: bound.backing.store, key: bound.key, layers: [], members: explanations)
  }

  /// Whether nothing was set: the value is a registered one, a seed or the default declared here.
  /// False for what was set here or in an added suite, for a launch argument, and for what is
  /// managed, whether the setting can read it or not.
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

  /// Whether a layer of the store decides on the value, or on that of a member, so that it cannot
  /// be set: see `SettingsStore.isManaged(_:)`.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public var isManaged: Bool {
    get throws {
      let bound = try bound()
      return bound.keys.contains { bound.backing.manager(of: $0) != nil }
    }
  }
}

extension SettingsStore {
  /// Whether a managed layer has a value for a key: then `write(_:for:)` throws a
  /// `KeepsakeError` with the code `managed`, a setter reports it, and nothing is written.
  public func isManaged(_ key: String) -> Bool { backing.manager(of: key) != nil }

  /// Where the value of a key comes from: every layer that has something to say, read at one
  /// moment, in the end the default of the property that has the key. `$name.explain()` says also
  /// whether the property can read the value.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func explain(_ key: String) throws(KeepsakeError) -> SettingExplanation {
    var explanation = try backing.explanation(key)
    if let declared = backing.declaredDefault(ByteText(key)) {
      explanation.layers.append(SettingExplanation.Layer(declared))
    }
    return explanation
  }
}
