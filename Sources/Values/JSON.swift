// SPDX-License-Identifier: Apache-2.0

/// A JSON value that keeps integers apart from floating-point numbers, and members in their order.
///
/// Foundation's coders lose both, and our containers and our command's output need both exactly.
package indirect enum JSON: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// How deep arrays and objects may nest: a level of a value takes up to two, a marker one more.
  package static let maximumDepth = 2 * StoredValue.maximumDepth + 2

  /// An object whose members without a value are left out.
  package static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// The value of the first member of this name, if this is an object that has one.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { ByteText($0.name) == ByteText(name) }?.value
  }
}

extension JSON {
  /// The shortest text of this value: no spaces, only the escapes that RFC 8259 demands. O(n).
  package func text() -> String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .boolean(let flag): out += flag ? "true" : "false"
    case .integer(let number): out += String(number)
    case .real(let number): out += number.description
    case .string(let text): Self.write(text, to: &out)
    case .array(let elements):
      Self.list(elements, "[", "]", to: &out) { $0.write(to: &$1) }
    case .object(let members):
      Self.list(members, "{", "}", to: &out) {
        Self.write($0.name, to: &$1)
        $1 += ":"
        $0.value.write(to: &$1)
      }
    }
  }

  private static func list<Element>(
    _ elements: [Element], _ open: String, _ close: String, to out: inout String,
    each: (Element, inout String) -> Void
  ) {
    out += open
    var first = true
    for element in elements {
      if !first { out += "," }
      first = false
      each(element, &out)
    }
    out += close
  }

  private static func write(_ text: String, to out: inout String) {
    out += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case "\u{0}"..<" ", "\u{7f}":
        let hex = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }
}
