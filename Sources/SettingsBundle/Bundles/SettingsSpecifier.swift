// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// One row of a pane.
package struct SettingsSpecifier: Sendable {
  package let kind: Kind
  /// The whole dictionary.
  package let node: PropertyListNode

  /// The eight types of the schema, and the rest.
  package enum Kind: Sendable, Equatable {
    case group, textField, titleValue, toggleSwitch, slider, multiValue, radioGroup, childPane
    /// A type outside the schema, such as those of InAppSettingsKit.
    case other(String)
    /// Not a dictionary, or without a string as its `Type`.
    case malformed
  }

  init(_ node: PropertyListNode) {
    self.node = node
    kind = node["Type"]?.string.map(Kind.init) ?? .malformed
  }

  package var title: String? { node["Title"]?.string }
  package var key: String? { node["Key"]?.string }
  package var defaultValue: PropertyListNode? { node["DefaultValue"] }
  package var values: [PropertyListNode]? { node["Values"]?.array }
  package var titles: [PropertyListNode]? { node["Titles"]?.array }
  /// Whether this is a text field that hides its text.
  package var isSecure: Bool { kind == .textField && node["IsSecure"]?.boolean == true }

  /// `TrueValue` or `FalseValue`, by default a boolean.
  package func switchValue(_ isOn: Bool) -> PropertyListNode {
    node[isOn ? "TrueValue" : "FalseValue"] ?? PropertyListNode(offset: node.offset, .boolean(isOn))
  }
}

extension SettingsSpecifier.Kind {
  init(_ type: String) {
    self = Self.known[ByteText(type)] ?? .other(type)
  }

  private static let known: [ByteText: Self] = [
    ByteText("PSGroupSpecifier"): .group, ByteText("PSTextFieldSpecifier"): .textField,
    ByteText("PSTitleValueSpecifier"): .titleValue,
    ByteText("PSToggleSwitchSpecifier"): .toggleSwitch, ByteText("PSSliderSpecifier"): .slider,
    ByteText("PSMultiValueSpecifier"): .multiValue, ByteText("PSRadioGroupSpecifier"): .radioGroup,
    ByteText("PSChildPaneSpecifier"): .childPane,
  ]

  /// The name in messages.
  package var name: String {
    switch self {
    case .group: "group"
    case .textField: "text field"
    case .titleValue: "title"
    case .toggleSwitch: "toggle switch"
    case .slider: "slider"
    case .multiValue: "multi-value"
    case .radioGroup: "radio group"
    case .childPane: "child pane"
    case .other(let type): type.quoted
    case .malformed: "specifier"
    }
  }
}
