// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

extension SettingsBundle {
  /// A row that stores a value, and the values that it may store.
  package struct Declaration: Sendable {
    package let key: String
    /// The choices; without choices the default. For a text field an empty string and the default,
    /// for a slider the middle of its range. Each has the type that the row stores.
    package let values: [StoredValue]
    /// File and line, `Root.plist:214`; in a binary property list file and key path.
    package let place: String
  }

  /// Whether the bundle is a file that is not a pane, but a table of defaults.
  package var isFlatTable: Bool { panes[0].root["PreferenceSpecifiers"] == nil }

  /// Every row with a key, or every member of a flat table.
  package var declarations: [Declaration] {
    if isFlatTable {
      return seeds.map { Declaration(key: $0.key, values: [$0.value], place: $0.place) }
    }
    return panes.flatMap { pane in
      pane.specifiers.compactMap { specifier in
        guard let key = specifier.key, !key.isEmpty, let values = specifier.storedValues else {
          return nil
        }
        let place = pane.place(of: Int(specifier.node.offset))
        return Declaration(key: key, values: values, place: place)
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
    case .textField: return [.string("")] + [defaultValue?.ifStorable].compactMap { $0 }
    case .toggleSwitch: choices = [true, false].map(switchValue)
    case .multiValue, .radioGroup, .titleValue: choices = values ?? []
    case .slider: return middle.map { [.real($0)] } ?? []
    }
    return (choices.isEmpty ? [defaultValue].compactMap { $0 } : choices).compactMap(\.ifStorable)
  }

  /// The middle of a slider's range: a slider stores a real even if its bounds are integers.
  private var middle: Double? {
    guard let lowest = node["MinimumValue"]?.number, let highest = node["MaximumValue"]?.number
    else { return nil }
    return lowest + (highest - lowest) / 2
  }
}
