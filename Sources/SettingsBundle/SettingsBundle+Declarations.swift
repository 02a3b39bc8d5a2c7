// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

extension SettingsBundle {
  /// A row that stores values, and which ones.
  package struct Declaration: Sendable {
    package let key: String
    /// The default and the choices; one of its type for a text field without a default, and one
    /// between the ends of a slider.
    package let values: [StoredValue]
    /// File and line: `Root.plist:214`.
    package let place: String
  }

  /// Every row with a key, and every member of a flat table.
  package var declarations: [Declaration] {
    if panes[0].root["PreferenceSpecifiers"] == nil {
      return seeds.map {
        Declaration(key: $0.key, values: [$0.value], place: "\($0.file):\($0.line)")
      }
    }
    return panes.flatMap { pane in
      pane.specifiers.compactMap { specifier in
        guard let key = specifier.key, !key.isEmpty, let values = specifier.storedValues else {
          return nil
        }
        let line = pane.map.position(of: specifier.node).line
        return Declaration(key: key, values: values, place: "\(pane.file):\(line)")
      }
    }
  }
}

extension SettingsSpecifier {
  /// Nil for a row that stores nothing.
  fileprivate var storedValues: [StoredValue]? {
    let choices: [PropertyListNode]
    switch kind {
    case .group, .childPane, .malformed: return nil
    case .other: if defaultValue == nil { return nil } else { choices = [] }
    case .textField: return [.string("")]
    case .toggleSwitch: choices = [true, false].map(switchValue)
    case .multiValue, .radioGroup, .titleValue: choices = values ?? []
    case .slider: return between.map { [.real($0)] } ?? []
    }
    // The default is one of the choices, and has its type.
    let isFree = choices.isEmpty
    return (isFree ? [defaultValue].compactMap { $0 } : choices).compactMap(\.ifStorable)
  }

  /// What a slider stores is a real, also when its ends are integers.
  private var between: Double? {
    guard let lowest = node["MinimumValue"]?.number, let highest = node["MaximumValue"]?.number
    else { return nil }
    return lowest + (highest - lowest) / 2
  }
}
