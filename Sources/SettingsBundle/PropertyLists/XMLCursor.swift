// SPDX-License-Identifier: Apache-2.0
//
// A position in the bytes of an XML file, and the lexical rules that XML shares with other formats.
//
// Invariants: eight added NULs follow the file in `bytes`, from `end` on, and no byte of the file
// after the XML declaration is NUL (`CharacterCheck`). So a byte, and a word of eight, may be read
// wherever `index <= end`, and a loop over a class of bytes stops at the end. `index` never exceeds
// `end`.

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

  /// Takes a `>`.
  mutating func takeClose() -> Bool {
    guard bytes[index] == UInt8(ascii: ">") else { return false }
    index += 1
    return true
  }

  /// - Returns: whether there was white space.
  @discardableResult mutating func skipSpace() -> Bool {
    let start = index
    while bytes[index].isSpace { index += 1 }
    return index > start
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
}

// MARK: - Comments and processing instructions

extension XMLCursor {
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
