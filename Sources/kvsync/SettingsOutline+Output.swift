// SPDX-License-Identifier: Apache-2.0
//
// A Settings bundle as the Settings app shows it, for programs and for people.

import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues

/// Stands for the default of a secure field.
private let hidden = "***"

// MARK: - For programs

extension SettingsOutline {
  func json() throws -> JSON {
    .object([
      "title": title.map(JSON.string), "file": .string(file),
      "groups": .array(
        try groups.map { group in
          .object([
            "title": group.title.map(JSON.string), "footer": group.footer.map(JSON.string),
            "rows": .array(try group.rows.map(Self.json)),
          ])
        }),
    ])
  }

  private static func json(_ row: SettingsOutline.Row) throws -> JSON {
    let specifier = row.specifier
    func value(_ name: String) throws -> JSON? {
      try specifier.node[name].map { try $0.json() }
    }
    let choices = try row.choices.map {
      JSON.object([
        "title": .string($0.title), "value": try $0.value.json(),
        "default": .boolean($0.isDefault),
      ])
    }
    return .object([
      "type": try value("Type"), "title": row.title.map(JSON.string),
      "key": specifier.key.map(JSON.string),
      "default": specifier.isSecure && specifier.defaultValue != nil
        ? .string(hidden) : try value("DefaultValue"),
      "minimum": try value("MinimumValue"), "maximum": try value("MaximumValue"),
      "choices": choices.isEmpty ? nil : .array(choices),
      "secure": specifier.isSecure ? .boolean(true) : nil,
      "idioms": specifier.idioms.map { .array($0.map(JSON.string)) },
      "pane": try row.child.map(json),
    ])
  }

  private static func json(_ child: SettingsOutline.Child) throws -> JSON {
    switch child {
    case .pane(let pane): try pane.json()
    case .shownAbove(let file): .object(["shownAbove": .string(file)])
    case .missing, .refused: .null
    }
  }
}

// MARK: - For people

extension SettingsOutline {
  /// - Parameter name: the title if the root has none.
  func lines(named name: String) throws -> [String] {
    var lines = [(title ?? name).quotedIfNeeded]
    try add(to: &lines, indent: "  ")
    return lines
  }

  private func add(to lines: inout [String], indent: String) throws {
    for group in groups {
      lines.append(indent + (group.title.map { "-- \($0.quotedIfNeeded) --" } ?? "--"))
      for row in group.rows { try Self.add(row, to: &lines, indent: indent + "  ") }
      if let footer = group.footer { lines.append("\(indent)  \(footer.quotedIfNeeded)") }
    }
  }

  private static func add(
    _ row: SettingsOutline.Row, to lines: inout [String], indent: String
  ) throws {
    // A radio group's title is its group's.
    if row.specifier.kind != .radioGroup { lines.append(indent + (try head(of: row))) }
    let inner = row.specifier.kind == .radioGroup ? indent : indent + "  "
    for choice in row.choices where row.specifier.kind != .titleValue {
      let value = try choice.value.json().text()
      lines.append(
        "\(inner)(\(choice.isDefault ? "*" : " ")) \(choice.title.quotedIfNeeded) = \(value)")
    }
    if case .pane(let pane)? = row.child { try pane.add(to: &lines, indent: inner) }
  }

  /// A row as `[x] Title  (key)`, for example.
  private static func head(of row: SettingsOutline.Row) throws -> String {
    let specifier = row.specifier
    let title = row.title.map(\.quotedIfNeeded) ?? "(no title)"
    let key = specifier.key.map { "  (\($0.quotedIfNeeded))" } ?? ""
    let devices =
      specifier.idioms.map { "  only \($0.map(\.quotedIfNeeded).joined(separator: ", "))" } ?? ""
    let value = try specifier.defaultValue.map { try $0.json().text() }
    let text =
      switch specifier.kind {
      case .toggleSwitch: "[\(specifier.isOn.map { $0 ? "x" : " " } ?? "?")] \(title)"
      case .textField: "\(title): \(specifier.isSecure ? hidden : value ?? "\"\"")"
      case .slider: "\(title): \(value ?? "?") from \(try bounds(of: specifier))"
      case .childPane: "\(title) > \(end(of: row.child))"
      case .other(let type): "\(title): \(value ?? "?")  not shown, a \(type.quotedIfNeeded)"
      default: "\(title): \(row.choices.first { $0.isDefault }.map(\.title) ?? value ?? "?")"
      }
    return text + key + devices
  }

  private static func bounds(of specifier: SettingsSpecifier) throws -> String {
    try ["MinimumValue", "MaximumValue"].map { name in
      try specifier.node[name].map { try $0.json().text() } ?? "?"
    }.joined(separator: " to ")
  }

  private static func end(of child: SettingsOutline.Child?) -> String {
    switch child {
    case .pane(let pane)?: pane.file.quotedIfNeeded
    case .shownAbove(let file)?: "\(file.quotedIfNeeded), shown above"
    case .missing?, nil: "a pane that does not exist"
    case .refused?: "a pane that cannot be read"
    }
  }
}
