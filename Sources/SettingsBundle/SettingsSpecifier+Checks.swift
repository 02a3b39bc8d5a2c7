// SPDX-License-Identifier: Apache-2.0
//
// The schema's rules about one specifier, as far as its seed depends on them; each a fault at the
// value that breaks it, or at the specifier where a value is missing.

import KeepsakeValues

extension SettingsSpecifier {
  /// What a specifier asks the reader of the bundle to do.
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
  package var isKeyed: Bool {
    switch kind {
    case .group, .childPane, .other, .malformed: false
    default: true
    }
  }

  /// All that is wrong, as far as one problem does not hide another.
  func faults() -> [Fault] {
    var faults: [Fault] = []
    func check(_ body: () throws(Fault) -> Void) {
      do throws(Fault) {
        try body()
      } catch {
        if !faults.contains(where: { $0.offset == error.offset && $0.what == error.what }) {
          faults.append(error)
        }
      }
    }
    check { () throws(Fault) in _ = try action() }
    if kind == .malformed { return faults }
    check { () throws(Fault) in try checkTitle() }
    if isKeyed {
      check { () throws(Fault) in _ = try checked(required("Key")) }
      if kind != .textField || defaultValue != nil {
        check { () throws(Fault) in _ = try checkedDefault(required("DefaultValue")) }
      }
    }
    return faults
  }

  /// A missing or strange title, which spoils the row but not its value.
  func checkTitle() throws(Fault) {
    if let title = node["Title"] {
      _ = try string(title, "Title")
    } else if kind.needsTitle {
      _ = try required("Title")
    }
  }

  private func keyed() throws(Fault) -> Action {
    let key = try checked(required("Key"))
    // "" is what the schema gives a text field then, but an app's own default says more.
    if kind == .textField, defaultValue == nil { return .nothing }
    let value = try required("DefaultValue")
    return .seed(key: key, try checkedDefault(value), offset: Int(value.offset))
  }

  /// A default that does not fit its row, as it is written: applications that register it read it
  /// nevertheless, such as a "0.4" among real numbers. Nil unless it is a scalar that has a key.
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

  /// The default as the type of the specifier has it.
  private func checkedDefault(_ value: PropertyListNode) throws(Fault) -> StoredValue {
    switch kind {
    case .textField:
      guard let text = value.string else { throw unfit(value, "not a string") }
      return .string(text)
    case .toggleSwitch: return try toggleDefault(value)
    case .slider: return try sliderDefault(value)
    case .multiValue, .radioGroup:
      let values = try checkedValues()
      return try choice(value, among: values, "none of its Values, \(values.summary)")
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
    return try choice(
      value, among: [on, off],
      "neither its TrueValue, \(on.shown), nor its FalseValue, \(off.shown)")
  }

  /// Numbers keep the type they are written in: `Double` reads an integer that is exact, and an app
  /// may want the integer.
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
        "the DefaultValue of \(label) is an integer that no real is exactly",
        cure: "write it as a <real>, or use one of at most \(1 << 53)")
    }
    return try value.storedValue()
  }

  /// `Values`, which come with as many `Titles`, all strings.
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

  /// The one of `choices` that is the default, with the type of the choice.
  private func choice(
    _ value: PropertyListNode, among choices: [PropertyListNode], _ otherwise: String
  ) throws(Fault) -> StoredValue {
    _ = try value.storedValue()
    if let choice = choices.first(where: value.isChoice) { return try choice.storedValue() }
    throw Fault(
      .defaultNotAmongValues, at: Int(value.offset),
      "the DefaultValue of \(label), \(shown(value)), is \(otherwise)",
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

  /// A value for a message; nobody's secret.
  private func shown(_ value: PropertyListNode) -> String {
    isSecure ? value.kindName : value.shown
  }

  private func unfit(_ value: PropertyListNode, _ otherwise: String) -> Fault {
    Fault(
      .wrongType, at: Int(value.offset),
      "the DefaultValue of \(label) is \(shown(value)), \(otherwise)", cure: "change its type")
  }

  private func wrong(_ value: PropertyListNode, _ name: String, wanted: String) -> Fault {
    Fault(
      .wrongType, at: Int(value.offset),
      "\(name) of \(label) is \(value.kindName), not \(wanted)", cure: "change its type")
  }
}
