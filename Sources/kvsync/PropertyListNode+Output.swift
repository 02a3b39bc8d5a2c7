// SPDX-License-Identifier: Apache-2.0
//
// A property list as the command prints it. JSON follows the rules for values in a stored
// container, at the root too, so that the type of each value is known. Members keep the order of
// the file, and an integer above `Int64.max` is `{"$integer":"…"}`.

import KeepsakeCommandLine
import KeepsakeSettingsBundle
import KeepsakeValues

extension PropertyListNode {
  func json() throws -> JSON {
    switch value {
    case .array(let elements): return .array(try elements.map { try $0.json() })
    case .dictionary(let members):
      let object = JSON.object(try members.map { JSON.Member($0.key, try $0.value.json()) })
      return object.isMarker ? .object(["$dictionary": object]) : object
    case .unsigned(let number): return .object(["$integer": .string("\(number)")])
    default:
      guard let value = ifStorable, case .array(let list) = try JSON(showing: .array([value]))
      else { return .null }
      return list[0]
    }
  }

  /// A tree for people: each value with its type.
  func lines() throws -> [String] {
    var lines: [String] = []
    try add(to: &lines, indent: "", name: "")
    return lines
  }

  private func add(to lines: inout [String], indent: String, name: String) throws {
    let head = indent + name
    switch value {
    case .array(let elements):
      lines.append(head + "array")
      for (index, element) in elements.enumerated() {
        try element.add(to: &lines, indent: indent + "  ", name: "\(index): ")
      }
    case .dictionary(let members):
      lines.append(head + "dictionary")
      for member in members {
        let name = "\(member.key.quotedIfNeeded): "
        try member.value.add(to: &lines, indent: indent + "  ", name: name)
      }
    case .unsigned(let number): lines.append(head + "integer \(number)")
    default:
      guard let value = ifStorable else { return }
      lines.append(head + "\(value.kind.rawValue) \(try EscapedJSON(value))")
    }
  }
}
