// SPDX-License-Identifier: Apache-2.0
//
// The tokens of RFC 8259. Where the RFC leaves limits to implementations: an integer fits 64 bits,
// a number is finite, nesting ends at `JSON.maximumDepth`, which bounds recursion.

/// Text that is not JSON.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// From 1, in Unicode scalars from the start of the text.
  package let column: Int
  package let description: String
}

/// Reads JSON from a buffer, which must outlive the scanner.
struct JSONScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  /// The maximum number of values and names of members that become a tree.
  var maximumItems = JSON.maximumItems
  var index = 0
  var items = 0
  private var depth = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  func error(_ description: String, at offset: Int? = nil) -> JSONError {
    let scalars = bytes[..<(offset ?? index)].count { $0 & 0xC0 != 0x80 }
    return JSONError(column: scalars + 1, description: description)
  }

  var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      index += 1
    }
  }

  mutating func accept(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    index += 1
    return true
  }

  mutating func expect(_ byte: UInt8, orThrow problem: String) throws(JSONError) {
    guard accept(byte) else { throw error(problem) }
  }

  /// - Throws: `JSONError` if anything but white space follows.
  mutating func end() throws(JSONError) {
    skipSpace()
    guard index == bytes.count else { throw error("unexpected text after the value") }
  }

  /// Steps into an array or an object.
  mutating func enter() throws(JSONError) {
    guard depth < JSON.maximumDepth else {
      throw error("nested deeper than \(JSON.maximumDepth) levels")
    }
    index += 1
    depth += 1
  }

  /// Steps out of an array or an object, after its end.
  mutating func leave() { depth -= 1 }

  /// Reads a value that is neither an array nor an object.
  mutating func scalar() throws(JSONError) -> JSON {
    switch next {
    case nil: throw error("the text ends before a value")
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", meaning: .boolean(true))
    case UInt8(ascii: "f"): return try literal("false", meaning: .boolean(false))
    case UInt8(ascii: "n"): return try literal("null", meaning: .null)
    case let byte? where byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10:
      return try number()
    default: throw error("this is not a JSON value")
    }
  }

  private mutating func literal(
    _ text: String, meaning value: JSON
  ) throws(JSONError) -> JSON {
    for expected in text.utf8 {
      guard next == expected else { throw error("this is not a JSON value") }
      index += 1
    }
    return value
  }

  // MARK: - Numbers

  private mutating func number() throws(JSONError) -> JSON {
    let start = index
    let isInteger = try skipNumber()
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

  /// Skips a number.
  ///
  /// - Returns: whether it is an integer.
  mutating func skipNumber() throws(JSONError) -> Bool {
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
    return isInteger
  }

  private mutating func digits() -> Int {
    let start = index
    while let byte = next, byte &- UInt8(ascii: "0") < 10 { index += 1 }
    return index - start
  }

  // MARK: - Strings

  private static func ends(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  mutating func string() throws(JSONError) -> String {
    let start = index + 1
    if let end = endOfPlainString {
      index = end + 1
      return String(decoding: bytes[start..<end], as: UTF8.self)
    }
    var text: [UInt8] = []
    index += 1
    while true {
      let start = index
      while index < bytes.count, !Self.ends(bytes[index]) { index += 1 }
      text += bytes[start..<index]
      guard let byte = next else { throw error("unterminated string") }
      guard byte >= 0x20 else { throw error("unescaped control character") }
      if byte == UInt8(ascii: "\"") { break }
      text += String(try escape()).utf8
    }
    index += 1
    return String(decoding: text, as: UTF8.self)
  }

  /// The index of the closing quote, if the string has no escapes and no errors.
  private var endOfPlainString: Int? {
    var end = index + 1
    while end < bytes.count, !Self.ends(bytes[end]) { end += 1 }
    return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end : nil
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let start = index
    index += 1
    guard let byte = next else { throw error("unterminated string") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(from: start)
    default: throw error("unknown escape", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
    let first = try fourHexDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, next == UInt8(ascii: "\\"), index + 1 < bytes.count,
      bytes[index + 1] == UInt8(ascii: "u")
    else { throw error("unpaired surrogate", at: start) }
    index += 2
    let second = try fourHexDigits()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw error("unpaired surrogate", at: start) }
    return scalar
  }

  mutating func fourHexDigits() throws(JSONError) -> UInt32 {
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
