// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Setting {
  /// Where the value comes from: every layer that has something to say, in the end the default
  /// declared here; and whether the value in force can be read.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read, `SettingDeclarationError` if this
  ///   setting is not a property of a store.
  public func explain() throws -> SettingExplanation {
    let bound = try bound()
    var explanation = try bound.backing.explanation(bound.key)
    if let value = explanation.inForce?.value {
      explanation.problem = problem { try decode(inForce: value, bound) }
    }
    let (value, problem) = storedDefault
    explanation.layers.append(SettingExplanation.Layer(value, .declared(problem: problem)))
    return explanation
  }

  /// Whether nothing was set: the value is a registered one, a seed or the default declared here.
  /// False for what was set here or in an added suite, and for a launch argument, whether the
  /// setting can read it or not.
  ///
  /// - Throws: as `explain()`.
  public var isDefault: Bool {
    get throws {
      let bound = try bound()
      return try bound.backing.explanation(bound.key).inForce?.source.isDefault ?? true
    }
  }
}

extension SettingsStore {
  /// Where the value of a key comes from: every layer that has something to say, read at one
  /// moment. `$name.explain()` adds the default of a property.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func explain(_ key: String) throws(KeepsakeError) -> SettingExplanation {
    try backing.explanation(key)
  }
}
