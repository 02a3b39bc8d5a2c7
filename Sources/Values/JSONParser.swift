// SPDX-License-Identifier: Apache-2.0
//
// A strict RFC 8259 reader. Stricter where the RFC leaves room: member names are unique by
// canonical equivalence (a Swift dictionary could not hold both), an integer fits 64 bits, a number
// is finite, nesting ends at `JSON.maximumDepth` (so the recursion is bounded).

/// Text that is not JSON.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Counted from 1, in Unicode scalars from the start of the text.
  package let column: Int
  package let description: String
}

extension JSON {
  /// Parses exactly one value, with nothing but white space around it. O(n).
  package init(parsing text: String) throws(JSONError) {
    var parser = JSONParser(text)
    self = try parser.document()
  }
}

private struct JSONParser {
  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  mutating func document() throws(JSONError) -> JSON {
    let value = try value()
    skipSpace()
    guard index == bytes.count else { throw error("unexpected text after the value") }
    return value
  }

  private func error(_ description: String, at offset: Int? = nil) -> JSONError {
    let scalars = bytes[..<(offset ?? index)].count { $0 & 0xC0 != 0x80 }
    return JSONError(column: scalars + 1, description: description)
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      index += 1
    }
  }

  private mutating func accept(_ character: Character) -> Bool {
    skipSpace()
    guard next == character.asciiValue else { return false }
    index += 1
    return true
  }

  private mutating func value() throws(JSONError) -> JSON {
    skipSpace()
    guard let next else { throw error("the text ends where a value should be") }
    switch next {
    case UInt8(ascii: "{"): return try nested { (p) throws(JSONError) in try p.object() }
    case UInt8(ascii: "["): return try nested { (p) throws(JSONError) in try p.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error("this is not a JSON value")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(JSONError) -> JSON
  ) throws(JSONError) -> JSON {
    guard depth < JSON.maximumDepth else {
      throw error("nested deeper than \(JSON.maximumDepth) levels")
    }
    index += 1
    depth += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func array() throws(JSONError) -> JSON {
    var elements: [JSON] = []
    if accept("]") { return .array([]) }
    repeat { elements.append(try value()) } while accept(",")
    guard accept("]") else { throw error("expected , or ]") }
    return .array(elements)
  }

  private mutating func object() throws(JSONError) -> JSON {
    var members: [JSON.Member] = []
    var names: Set<String> = []
    if accept("}") { return .object([]) }
    repeat {
      skipSpace()
      let start = index
      guard next == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
      let name = try string()
      guard names.insert(name).inserted else { throw error("this name is there twice", at: start) }
      guard accept(":") else { throw error("expected :") }
      members.append(JSON.Member(name, try value()))
    } while accept(",")
    guard accept("}") else { throw error("expected , or }") }
    return .object(members)
  }

  private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
    for expected in UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount) {
      guard next == expected else { throw error("this is not a JSON value") }
      index += 1
    }
    return value
  }
}

// MARK: - Numbers

extension JSONParser {
  private mutating func number() throws(JSONError) -> JSON {
    let start = index
    if next == UInt8(ascii: "-") { index += 1 }
    let digitsStart = index
    guard digits() > 0 else { throw error("expected a digit") }
    guard bytes[digitsStart] != UInt8(ascii: "0") || index - digitsStart == 1 else {
      throw error("a number has no leading zero", at: start)
    }
    var isInteger = true
    if next == UInt8(ascii: ".") {
      isInteger = false
      index += 1
      guard digits() > 0 else { throw error("expected a digit") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isInteger = false
      index += 1
      if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { index += 1 }
      guard digits() > 0 else { throw error("expected a digit") }
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isInteger {
      guard let number = Int64(text) else {
        throw error("this integer does not fit 64 bits", at: start)
      }
      return .integer(number)
    }
    guard let number = Double(text), number.isFinite else {
      throw error("this number is too large", at: start)
    }
    return .real(number)
  }

  private mutating func digits() -> Int {
    let start = index
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    return index - start
  }
}

// MARK: - Strings

extension JSONParser {
  private mutating func string() throws(JSONError) -> String {
    index += 1
    var out: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: out, as: UTF8.self)
      case UInt8(ascii: "\\"):
        out += Array(String(try escape()).utf8)
      case 0..<0x20:
        throw error("a control character has to be escaped")
      default:
        out.append(byte)
        index += 1
      }
    }
    throw error("this string has no end")
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let start = index
    index += 1
    guard let byte = next else { throw error("this string has no end") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(from: start)
    default: throw error("there is no such escape", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
    let first = try fourHexDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, next == UInt8(ascii: "\\"), index + 1 < bytes.count,
      bytes[index + 1] == UInt8(ascii: "u")
    else { throw error("half of a surrogate pair", at: start) }
    index += 2
    let second = try fourHexDigits()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw error("half of a surrogate pair", at: start) }
    return scalar
  }

  private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("expected four hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }
}
