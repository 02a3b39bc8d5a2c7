// SPDX-License-Identifier: Apache-2.0
//
// A tree from JSON text, and text from a tree. Member names must be unique by canonical
// equivalence: a Swift dictionary could not hold both.

extension JSON {
  /// The usual maximum number of values and names of members in a text: more than the JSON of the
  /// largest value, 16 MiB, can have, where each takes two bytes.
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
        var parser = JSONParser(scanner: JSONScanner(bytes), maximumItems: maximumItems)
        return try parser.document()
      }
    }
    self = try result.get()
  }
}

private struct JSONParser {
  var scanner: JSONScanner
  let maximumItems: Int
  private var items = 0

  init(scanner: JSONScanner, maximumItems: Int) {
    (self.scanner, self.maximumItems) = (scanner, maximumItems)
  }

  mutating func document() throws(JSONError) -> JSON {
    let value = try value()
    try scanner.end()
    return value
  }

  private mutating func value() throws(JSONError) -> JSON {
    scanner.skipSpace()
    try countItem()
    switch scanner.next {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    default: return try scanner.scalar()
    }
  }

  private mutating func countItem() throws(JSONError) {
    items += 1
    guard items <= maximumItems else {
      throw scanner.error("more than \(maximumItems) values and names")
    }
  }

  private mutating func elements() throws(JSONError) -> [JSON] {
    try scanner.enter()
    defer { scanner.leave() }
    var elements: [JSON] = []
    if scanner.accept(UInt8(ascii: "]")) { return [] }
    repeat { elements.append(try value()) } while scanner.accept(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"), "expected , or ]")
    return elements
  }

  private mutating func members() throws(JSONError) -> [JSON.Member] {
    try scanner.enter()
    defer { scanner.leave() }
    var members: [JSON.Member] = []
    // A line of an export has three members or four.
    members.reserveCapacity(4)
    // Small objects are searched.
    var names: Set<String>?
    if scanner.accept(UInt8(ascii: "}")) { return [] }
    repeat {
      scanner.skipSpace()
      let start = scanner.index
      try countItem()
      guard scanner.next == UInt8(ascii: "\"") else {
        throw scanner.error("expected a member name in quotes")
      }
      let name = try scanner.string()
      if names == nil, members.count == 8 { names = Set(members.map(\.name)) }
      let isNew = names?.insert(name).inserted ?? !members.contains { $0.name == name }
      guard isNew else { throw scanner.error("duplicate name", at: start) }
      try scanner.expect(UInt8(ascii: ":"), "expected :")
      members.append(JSON.Member(name, try value()))
    } while scanner.accept(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"), "expected , or }")
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
