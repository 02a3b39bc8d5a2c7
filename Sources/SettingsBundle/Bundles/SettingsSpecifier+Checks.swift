// SPDX-License-Identifier: Apache-2.0
//
// The schema's rules that the seed of a specifier depends on. The place of a fault is the value
// that breaks a rule, or the specifier if a value is missing.

import KeepsakeValues

extension SettingsSpecifier {
  /// The walk's action for a specifier.
  enum Action {
    case nothing
    case seed(Default)
    /// Reads the pane of a `File`, which is at `offset`.
    case open(file: String, offset: Int)
  }

  /// The default of a key, and where it is.
  struct Default {
    let key: String
    let value: StoredValue
    let offset: Int

    init(_ value: StoredValue, of key: String, at offset: UInt32) {
      (self.key, self.value, self.offset) = (key, value, Int(offset))
    }
  }

  func action() throws(Fault) -> Action {
    switch kind {
    case .malformed: throw malformation
    case .group: return .nothing
    case .childPane:
      let file = try required("File")
      return .open(file: try string(file, named: "File"), offset: Int(file.offset))
    case .other:
      guard let key = node["Key"], let value = defaultValue else { return .nothing }
      let text = try checkedKey(key)
      return .seed(Default(try value.storedValue(), of: text, at: value.offset))
    case .textField, .titleValue, .toggleSwitch, .slider, .multiValue, .radioGroup:
      return try keyed()
    }
  }

  /// Checks the title, whose faults do not affect the value.
  func checkTitle() throws(Fault) {
    if let title = node["Title"] {
      _ = try string(title, named: "Title")
    } else if [.toggleSwitch, .multiValue, .childPane].contains(kind) {
      _ = try required("Title")
    }
  }

  private func keyed() throws(Fault) -> Action {
    let key = try checkedKey(required("Key"))
    // The schema then has the default "", but the app's own default is more useful.
    if kind == .textField, defaultValue == nil { return .nothing }
    let value = try required("DefaultValue")
    return .seed(Default(try checkedDefault(value), of: key, at: value.offset))
  }

  /// The default as written, although it does not fit its row, such as a "0.4" among reals:
  /// applications register and read it anyway. Nil unless it is a scalar with a key.
  var unfitDefault: Default? {
    switch kind {
    // The schema requires no `Key`.
    case .group, .childPane, .other, .malformed: return nil
    default: break
    }
    guard let key, !key.isEmpty, let value = defaultValue, !value.isContainer,
      let stored = value.ifStorable
    else { return nil }
    return Default(stored, of: key, at: value.offset)
  }

  private func checkedKey(_ key: PropertyListNode) throws(Fault) -> String {
    let text = try string(key, named: "Key")
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
      return .string(try string(value, named: "the DefaultValue"))
    case .toggleSwitch: return try toggleDefault(value)
    case .slider: return try sliderDefault(value)
    case .multiValue, .radioGroup:
      let values = try checkedValues()
      return try choice(value, among: values, otherwise: "none of its Values")
    default:
      if node["Values"] != nil || node["Titles"] != nil { _ = try checkedValues() }
      return try value.storedValue()
    }
  }

  // MARK: - Types

  private func toggleDefault(_ value: PropertyListNode) throws(Fault) -> StoredValue {
    let (on, off) = (switchValue(true), switchValue(false))
    for side in [on, off] where side.isContainer {
      throw wrongType(of: side, named: "a TrueValue or FalseValue", wanted: "a scalar")
    }
    return try choice(
      value, among: [on, off], otherwise: "neither its TrueValue nor its FalseValue")
  }

  /// Numbers keep their written type: `Double` reads an exact integer, and an app may want the
  /// integer.
  private func sliderDefault(_ value: PropertyListNode) throws(Fault) -> StoredValue {
    for (name, bound) in [
      ("MinimumValue", try required("MinimumValue")),
      ("MaximumValue", try required("MaximumValue")), ("DefaultValue", value),
    ] where bound.number == nil {
      throw wrongType(of: bound, named: name, wanted: "a number")
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
    guard let values = valueList.array else {
      throw wrongType(of: valueList, named: "Values", wanted: "an array")
    }
    guard let titles = titleList.array else {
      throw wrongType(of: titleList, named: "Titles", wanted: "an array")
    }
    for title in titles { _ = try string(title, named: "a title") }
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
    _ value: PropertyListNode, among choices: [PropertyListNode], otherwise problem: String
  ) throws(Fault) -> StoredValue {
    _ = try value.storedValue()
    if let choice = choices.first(where: value.isChoice) { return try choice.storedValue() }
    throw Fault(
      .defaultNotAmongValues, at: Int(value.offset),
      "the DefaultValue of \(label), \(value.kindName), is \(problem)",
      cure: "use one of them, of the same type")
  }

  // MARK: - Faults

  private var label: String {
    key.map { "the \(kind.name) \($0.quoted)" } ?? "this \(kind.name)"
  }

  private var malformation: Fault {
    guard node.members != nil else {
      return Fault(
        .wrongType, at: Int(node.offset), "this specifier is \(node.kindName), not a dictionary",
        cure: "make it a <dict>")
    }
    guard let type = node["Type"] else { return missing("Type") }
    return wrongType(of: type, named: "Type", wanted: "a string")
  }

  private func missing(_ name: String) -> Fault {
    Fault(.requiredKeyMissing, at: Int(node.offset), "\(label) has no \(name)", cure: "add it")
  }

  private func required(_ name: String) throws(Fault) -> PropertyListNode {
    guard let value = node[name] else { throw missing(name) }
    return value
  }

  private func string(_ value: PropertyListNode, named name: String) throws(Fault) -> String {
    guard let text = value.string else {
      throw wrongType(of: value, named: name, wanted: "a string")
    }
    return text
  }

  private func wrongType(of value: PropertyListNode, named name: String, wanted: String) -> Fault {
    Fault(
      .wrongType, at: Int(value.offset),
      "\(name) of \(label) is \(value.kindName), not \(wanted)", cure: "change its type")
  }
}
