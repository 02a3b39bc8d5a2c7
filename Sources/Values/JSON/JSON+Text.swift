// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON text into a tree, and writes a tree as text. Member names must be unique by canonical
// equivalence, because a Swift dictionary cannot hold two equivalent keys.

extension JSON {
  /// The default maximum number of values and names of members in a text. The JSON of the largest
  /// value, 16 MiB, has fewer: each takes at least two bytes.
  package static let maximumItems = 9 << 20

  /// Parses exactly one value with optional white space around it. O(n).
  ///
  /// - Parameter maximumItems: the maximum number of values and names of members. The tree takes up
  ///   to 50 bytes for each, also while it is read.
  package init(
    parsing text: String, maximumItems: Int = JSON.maximumItems
  ) throws(JSONError) {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(JSONError) in
        var scanner = JSONScanner(bytes)
        scanner.maximumItems = maximumItems
        let value = try scanner.value()
        try scanner.end()
        return value
      }
    }
    self = try result.get()
  }
}

extension JSONScanner {
  /// Reads an array, an object or a scalar.
  fileprivate mutating func value() throws(JSONError) -> JSON {
    skipSpace()
    try countItem()
    switch next {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    default: return try scalar()
    }
  }

  private mutating func countItem() throws(JSONError) {
    items += 1
    guard items <= maximumItems else {
      throw error("more than \(maximumItems) values and names")
    }
  }

  private mutating func elements() throws(JSONError) -> [JSON] {
    try enter()
    defer { leave() }
    var elements: [JSON] = []
    if accept(UInt8(ascii: "]")) { return [] }
    repeat { elements.append(try value()) } while accept(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"), orThrow: "expected , or ]")
    return elements
  }

  private mutating func members() throws(JSONError) -> [JSON.Member] {
    try enter()
    defer { leave() }
    var members: [JSON.Member] = []
    // Growing one by one would copy a small object several times.
    members.reserveCapacity(4)
    // The names of a small object are compared one by one.
    var names: Set<String>?
    if accept(UInt8(ascii: "}")) { return [] }
    repeat {
      skipSpace()
      let start = index
      try countItem()
      guard next == UInt8(ascii: "\"") else {
        throw error("expected a member name in quotes")
      }
      let name = try string()
      if names == nil, members.count == 8 { names = Set(members.map(\.name)) }
      let isNew = names?.insert(name).inserted ?? !members.contains { $0.name == name }
      guard isNew else { throw error("duplicate name", at: start) }
      try expect(UInt8(ascii: ":"), orThrow: "expected :")
      members.append(JSON.Member(name, try value()))
    } while accept(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"), orThrow: "expected , or }")
    return members
  }
}

// MARK: - Writing

extension JSON {
  /// The text of this value, without spaces and with no escapes beyond RFC 8259's and U+007F. O(n).
  package func text() -> String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text of this value in UTF-8.
  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
    case .integer(let number): bytes += String(number).utf8
    case .real(let number): bytes += number.description.utf8
    case .string(let text): Self.write(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (place, member) in members.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Appends a string in quotes.
  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { text in
      var start = 0
      for (place, byte) in text.enumerated() where needsEscape(byte) {
        bytes += text[start..<place]
        bytes += escape(byte).utf8
        start = place + 1
      }
      bytes += text[start...]
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\""): "\\\""
    case UInt8(ascii: "\\"): "\\\\"
    case UInt8(ascii: "\n"): "\\n"
    case UInt8(ascii: "\r"): "\\r"
    case UInt8(ascii: "\t"): "\\t"
    default: "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
  }
}
