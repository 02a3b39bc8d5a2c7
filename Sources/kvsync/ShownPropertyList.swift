// SPDX-License-Identifier: Apache-2.0
//
// A property list as the command prints it. JSON follows the rules for values in a stored
// container, at the root too, so that each value tells its type; members keep the order of the
// file, and an integer above `Int64.max` is `{"$integer":"…"}`.

import KeepsakeCommandLine
import KeepsakeSettingsBundle
import KeepsakeValues

enum ShownPropertyList {
  static func json(_ node: PropertyListNode) throws -> JSON {
    switch node.value {
    case .array(let elements): return .array(try elements.map(json))
    case .dictionary(let members):
      let object = JSON.object(try members.map { JSON.Member($0.key, try json($0.value)) })
      return object.isMarker ? .object(["$dictionary": object]) : object
    case .unsigned(let number): return .object(["$integer": .string("\(number)")])
    default:
      guard let value = node.ifStorable, case .array(let list) = try JSON(showing: .array([value]))
      else { return .null }
      return list[0]
    }
  }

  /// A tree for people: each value with its type.
  static func lines(_ node: PropertyListNode) throws -> [String] {
    var lines: [String] = []
    try add(node, "", to: &lines, indent: "")
    return lines
  }

  private static func add(
    _ node: PropertyListNode, _ name: String, to lines: inout [String], indent: String
  ) throws {
    let head = indent + name
    switch node.value {
    case .array(let elements):
      lines.append(head + "array")
      for (index, element) in elements.enumerated() {
        try add(element, "\(index): ", to: &lines, indent: indent + "  ")
      }
    case .dictionary(let members):
      lines.append(head + "dictionary")
      for member in members {
        try add(
          member.value, "\(Shown.name(member.key)): ", to: &lines, indent: indent + "  ")
      }
    case .unsigned(let number): lines.append(head + "integer \(number)")
    default:
      guard let value = node.ifStorable else { return }
      lines.append(head + "\(value.kind.rawValue) \(try Shown.quoted(value))")
    }
  }
}
