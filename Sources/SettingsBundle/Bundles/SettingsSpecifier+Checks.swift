// SPDX-License-Identifier: Apache-2.0
//
// The schema's rules about one specifier that its seed depends on. A fault is at the value that
// breaks a rule, or at the specifier that lacks a value.

import KeepsakeValues

extension SettingsSpecifier {
  /// What the walk does for a specifier.
  enum Action {
    case nothing
    case seed(key: String, StoredValue, offset: Int)
    /// Read the pane of this file name.
    case open(String, offset: Int)
  }

  func action() throws(Fault) -> Action {
    switch kind {
    case .malformed: throw malformation()
    case .group: return .nothing
    case .childPane:
      let file = try required("File")
      return .open(try string(file, "File"), offset: Int(file.offset))
    case .other:
      guard let key = node["Key"], let value = defaultValue else { return .nothing }
      return .seed(key: try checked(key), try value.storedValue(), offset: Int(value.offset))
    case .textField, .titleValue, .toggleSwitch, .slider, .multiValue, .radioGroup:
      return try keyed()
    }
  }

  /// Whether the schema requires a `Key`.
  private var isKeyed: Bool {
    switch kind {
    case .group, .childPane, .other, .malformed: false
    default: true
    }
  }

  /// Checks the title, whose faults do not affect the value.
  func checkTitle() throws(Fault) {
    if let title = node["Title"] {
      _ = try string(title, "Title")
    } else if kind.needsTitle {
      _ = try required("Title")
    }
  }

  private func keyed() throws(Fault) -> Action {
    let key = try checked(required("Key"))
    // The schema's default is "" then, but the app's own default is more useful.
    if kind == .textField, defaultValue == nil { return .nothing }
    let value = try required("DefaultValue")
    return .seed(key: key, try checkedDefault(value), offset: Int(value.offset))
  }

  /// A default that does not fit its row, as written: applications register and read it anyway,
  /// such as a "0.4" among reals. Nil unless it is a scalar with a key.
  var unfitDefault: (key: String, value: StoredValue, offset: Int)? {
    guard isKeyed, let key, !key.isEmpty, let value = defaultValue, !value.isContainer,
      let stored = value.ifStorable
    else { return nil }
    return (key, stored, Int(value.offset))
  }

  private func checked(_ key: PropertyListNode) throws(Fault) -> String {
    let text = try string(key, "Key")
    guard !text.isEmpty else {
      throw Fault(
        .emptyKey, at: Int(key.offset), "the Key of this \(kind.name) is empty",
        cure: "name the setting")
    }
    return text
  }

  /// The default, checked and converted for the specifier's type.
  private func checkedDefault(_ value: PropertyListNode) throws(Fault) -> StoredValue {
    switch kind {
    case .textField:
      return .string(try string(value, "the DefaultValue"))
    case .toggleSwitch: return try toggleDefault(value)
    case .slider: return try sliderDefault(value)
    case .multiValue, .radioGroup:
      let values = try checkedValues()
      return try choice(value, among: values, "none of its Values")
    default:
      if node["Values"] != nil || node["Titles"] != nil { _ = try checkedValues() }
      return try value.storedValue()
    }
  }
}

// MARK: - Types

extension SettingsSpecifier {
  private func toggleDefault(_ value: PropertyListNode) throws(Fault) -> StoredValue {
    let (on, off) = (switchValue(true), switchValue(false))
    for side in [on, off] where side.isContainer {
      throw wrong(side, "a TrueValue or FalseValue", wanted: "a scalar")
    }
    return try choice(value, among: [on, off], "neither its TrueValue nor its FalseValue")
  }

  /// Numbers keep their written type: `Double` reads an exact integer, and an app may want the
  /// integer.
  private func sliderDefault(_ value: PropertyListNode) throws(Fault) -> StoredValue {
    for (name, bound) in [
      ("MinimumValue", try required("MinimumValue")),
      ("MaximumValue", try required("MaximumValue")), ("DefaultValue", value),
    ] where bound.number == nil {
      throw wrong(bound, name, wanted: "a number")
    }
    if case .integer(let number) = value.value, Double(exactly: number) == nil {
      throw Fault(
        .wrongType, at: Int(value.offset),
        "the DefaultValue of \(label) is an integer that no Double represents exactly",
        cure: "write it as a <real>, or use one of at most \(1 << 53)")
    }
    return try value.storedValue()
  }

  /// `Values`, after checking that there are as many `Titles`, all strings.
  private func checkedValues() throws(Fault) -> [PropertyListNode] {
    let (valueList, titleList) = (try required("Values"), try required("Titles"))
    guard let values = valueList.array else { throw wrong(valueList, "Values", wanted: "an array") }
    guard let titles = titleList.array else { throw wrong(titleList, "Titles", wanted: "an array") }
    for title in titles where title.string == nil {
      throw wrong(title, "a title", wanted: "a string")
    }
    guard values.count == titles.count else {
      throw Fault(
        .countMismatch, at: Int(titleList.offset),
        "\(label) has \(values.count) Values and \(titles.count) Titles",
        cure: "give every value one title")
    }
    return values
  }

  /// The choice that the default selects, with the type of the choice.
  private func choice(
    _ value: PropertyListNode, among choices: [PropertyListNode], _ otherwise: String
  ) throws(Fault) -> StoredValue {
    _ = try value.storedValue()
    if let choice = choices.first(where: value.isChoice) { return try choice.storedValue() }
    throw Fault(
      .defaultNotAmongValues, at: Int(value.offset),
      "the DefaultValue of \(label), \(value.kindName), is \(otherwise)",
      cure: "use one of them, of the same type")
  }
}

// MARK: - Faults

extension SettingsSpecifier {
  private var label: String {
    key.map { "the \(kind.name) \($0.quoted)" } ?? "this \(kind.name)"
  }

  private func malformation() -> Fault {
    guard node.members != nil else {
      return Fault(
        .wrongType, at: Int(node.offset), "this specifier is \(node.kindName), not a dictionary",
        cure: "make it a <dict>")
    }
    guard let type = node["Type"] else { return missing("Type") }
    return wrong(type, "Type", wanted: "a string")
  }

  private func missing(_ name: String) -> Fault {
    Fault(.requiredKeyMissing, at: Int(node.offset), "\(label) has no \(name)", cure: "add it")
  }

  private func required(_ name: String) throws(Fault) -> PropertyListNode {
    guard let value = node[name] else { throw missing(name) }
    return value
  }

  private func string(_ value: PropertyListNode, _ name: String) throws(Fault) -> String {
    guard let text = value.string else { throw wrong(value, name, wanted: "a string") }
    return text
  }

  private func wrong(_ value: PropertyListNode, _ name: String, wanted: String) -> Fault {
    Fault(
      .wrongType, at: Int(value.offset),
      "\(name) of \(label) is \(value.kindName), not \(wanted)", cure: "change its type")
  }
}
