// SPDX-License-Identifier: Apache-2.0
//
// A position in the bytes of an XML file, and the lexical rules of XML.
//
// Invariants: eight NULs are appended to the file in `bytes`, from `end` on, and no byte of the
// file after the XML declaration is NUL (`CharacterCheck`). So a byte, and a word of eight bytes,
// may be read wherever `index <= end`, and a loop over a class of bytes stops at the end. `index`
// never exceeds `end`.

struct XMLCursor {
  let bytes: [UInt8]
  let end: Int
  var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes + [UInt8](repeating: 0, count: 8)
    end = bytes.count
  }

  var byte: UInt8 { bytes[index] }
  var isAtEnd: Bool { index >= end }

  func at(_ text: StaticString) -> Bool { bytes.matches(text, at: index) }

  mutating func take(_ text: StaticString) -> Bool {
    guard at(text) else { return false }
    index += text.utf8CodeUnitCount
    return true
  }

  mutating func skipSpace() {
    while bytes[index].isSpace { index += 1 }
  }

  /// The range of a name, which may be empty.
  mutating func name() -> Range<Int> {
    let start = index
    while bytes[index].isName { index += 1 }
    return start..<index
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// The range within single or double quotes; nil, and no step, if there is no literal.
  mutating func literal() -> Range<Int>? {
    guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { return nil }
    guard let close = bytes[(index + 1)..<end].firstIndex(of: byte) else { return nil }
    let start = index + 1
    index = close + 1
    return start..<close
  }

  func endOfFile(inside what: String) -> Fault {
    Fault(
      .unexpectedEnd, at: end, "the file ends inside \(what)",
      cure: "complete it, or fetch the file again")
  }

  // MARK: - Comments and processing instructions

  /// Skips white space, comments and processing instructions.
  mutating func skipMisc() throws(Fault) {
    while true {
      skipSpace()
      guard byte == UInt8(ascii: "<") else { return }
      switch bytes[index + 1] {
      case UInt8(ascii: "!"):
        guard at("<!--") else { return }
        try skip("<!--", past: "-->", of: "a comment")
      case UInt8(ascii: "?"): try instruction()
      default: return
      }
    }
  }

  mutating func instruction() throws(Fault) {
    try skip("<?", past: "?>", of: "a processing instruction")
  }

  /// Skips markup that starts here with `opening`.
  ///
  /// - Returns: the range of what is between `opening` and `closing`.
  @discardableResult
  mutating func skip(
    _ opening: StaticString, past closing: StaticString, of what: String
  ) throws(Fault) -> Range<Int> {
    index += opening.utf8CodeUnitCount
    let first = index
    while !at(closing) {
      if isAtEnd { throw endOfFile(inside: what) }
      index += 1
    }
    defer { index += closing.utf8CodeUnitCount }
    return first..<index
  }
}

// MARK: - The prolog

/// The XML declaration (XML 1.0, production 23) and the document type (28) without an internal
/// subset, so that no file can declare an entity. Like Foundation's parser, this reads only the
/// parts that the rest of the file depends on.
extension XMLCursor {
  /// Skips a byte order mark and the XML declaration.
  ///
  /// - Returns: whether it declares another encoding than UTF-8.
  mutating func declaration() throws(Fault) -> Bool {
    index = bytes.startOfText
    skipSpace()
    guard at("<?xml"), !bytes[index + 5].isName else { return false }
    let start = index
    try instruction()
    guard let name = bytes[start..<index].firstRange(of: Array("encoding".utf8)) else {
      return false
    }
    var value = self
    value.index = name.upperBound
    value.skipSpace()
    guard value.take("=") else { return false }
    value.skipSpace()
    guard let encoding = value.literal() else { return false }
    return encoding.count > 5 || !["UTF-8", "UTF8"].contains(text(encoding).uppercased())
  }

  /// Throws at the first byte from here on that is not ASCII. ASCII bytes are the same characters
  /// in each encoding that a file without a byte order mark is likely to have.
  func checkASCII() throws(Fault) {
    guard let other = bytes[index..<end].firstIndex(where: { $0 >= 0x80 }) else { return }
    throw Fault(
      .unsupportedEncoding, at: other,
      "this character is not ASCII, and the declared encoding is not UTF-8",
      cure: "save the file as UTF-8 and declare that")
  }

  /// Skips an optional document type.
  mutating func doctype() throws(Fault) {
    guard take("<!DOCTYPE") else { return }
    guard skipTag() else {
      throw isAtEnd
        ? endOfFile(inside: "the document type")
        : Fault(
          .internalSubset, at: index, "the document type declares entities or elements",
          cure: "remove everything from [ to ]")
    }
  }

  /// Skips the rest of a tag, with its `>`.
  ///
  /// - Returns: false if a `[` or `<` outside quotes, or the end, precedes the `>`; the cursor is
  ///   then there.
  mutating func skipTag() -> Bool {
    while !isAtEnd, byte != UInt8(ascii: "["), byte != UInt8(ascii: "<") {
      if take(">") { return true }
      if literal() == nil { index += 1 }
    }
    return false
  }
}
