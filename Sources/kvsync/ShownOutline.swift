// SPDX-License-Identifier: Apache-2.0

import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues

/// A Settings bundle as the Settings app shows it, for programs and for people.
struct ShownOutline {
  private let outline: SettingsOutline
  private let name: String

  /// - Parameter name: the title if the root has none.
  init(_ outline: SettingsOutline, _ name: String) {
    self.outline = outline
    self.name = name
  }

  var json: JSON {
    get throws { try Self.json(outline) }
  }

  var lines: [String] {
    get throws {
      var lines = [Shown.name(outline.title ?? name)]
      try Self.add(outline, to: &lines, indent: "  ")
      return lines
    }
  }
}

/// Stands for the default of a secure field.
private let hidden = "***"

// MARK: - For programs

extension ShownOutline {
  private static func json(_ pane: SettingsOutline) throws -> JSON {
    .object([
      "title": pane.title.map(JSON.string), "file": .string(pane.file),
      "groups": .array(
        try pane.groups.map { group in
          .object([
            "title": group.title.map(JSON.string), "footer": group.footer.map(JSON.string),
            "rows": .array(try group.rows.map(json)),
          ])
        }),
    ])
  }

  private static func json(_ row: SettingsOutline.Row) throws -> JSON {
    let specifier = row.specifier
    func value(_ name: String) throws -> JSON? {
      try specifier.node[name].map(ShownPropertyList.json)
    }
    let choices = try row.choices.map {
      JSON.object([
        "title": .string($0.title), "value": try ShownPropertyList.json($0.value),
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
    case .pane(let pane): try json(pane)
    case .shownAbove(let file): .object(["shownAbove": .string(file)])
    case .missing, .refused: .null
    }
  }
}

// MARK: - For people

extension ShownOutline {
  private static func add(
    _ pane: SettingsOutline, to lines: inout [String], indent: String
  ) throws {
    for group in pane.groups {
      lines.append(indent + (group.title.map { "-- \(Shown.name($0)) --" } ?? "--"))
      for row in group.rows { try add(row, to: &lines, indent: indent + "  ") }
      if let footer = group.footer { lines.append("\(indent)  \(Shown.name(footer))") }
    }
  }

  private static func add(
    _ row: SettingsOutline.Row, to lines: inout [String], indent: String
  ) throws {
    // A radio group's title is its group's.
    if row.specifier.kind != .radioGroup { lines.append(indent + (try head(of: row))) }
    let inner = row.specifier.kind == .radioGroup ? indent : indent + "  "
    for choice in row.choices where row.specifier.kind != .titleValue {
      let value = try ShownPropertyList.json(choice.value).text()
      lines.append(
        "\(inner)(\(choice.isDefault ? "*" : " ")) \(Shown.name(choice.title)) = \(value)")
    }
    if case .pane(let pane)? = row.child { try add(pane, to: &lines, indent: inner) }
  }

  /// A row as `[x] Title  (key)`, for example.
  private static func head(of row: SettingsOutline.Row) throws -> String {
    let specifier = row.specifier
    let title = row.title.map(Shown.name) ?? "(no title)"
    let key = specifier.key.map { "  (\(Shown.name($0)))" } ?? ""
    let devices =
      specifier.idioms.map { "  only \($0.map(Shown.name).joined(separator: ", "))" } ?? ""
    let value = try specifier.defaultValue.map { try ShownPropertyList.json($0).text() }
    let text =
      switch specifier.kind {
      case .toggleSwitch: "[\(specifier.isOn.map { $0 ? "x" : " " } ?? "?")] \(title)"
      case .textField: "\(title): \(specifier.isSecure ? hidden : value ?? "\"\"")"
      case .slider: "\(title): \(value ?? "?") from \(try bounds(of: specifier))"
      case .childPane: "\(title) > \(end(of: row.child))"
      case .other(let type): "\(title): \(value ?? "?")  not shown, a \(Shown.name(type))"
      default: "\(title): \(row.choices.first { $0.isDefault }.map(\.title) ?? value ?? "?")"
      }
    return text + key + devices
  }

  private static func bounds(of specifier: SettingsSpecifier) throws -> String {
    try ["MinimumValue", "MaximumValue"].map { name in
      try specifier.node[name].map { try ShownPropertyList.json($0).text() } ?? "?"
    }.joined(separator: " to ")
  }

  private static func end(of child: SettingsOutline.Child?) -> String {
    switch child {
    case .pane(let pane)?: Shown.name(pane.file)
    case .shownAbove(let file)?: "\(Shown.name(file)), shown above"
    case .missing?, nil: "a pane that does not exist"
    case .refused?: "a pane that cannot be read"
    }
  }
}
