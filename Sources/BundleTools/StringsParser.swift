// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle

/// Reads the pairs of a `.strings` file; the grammar is at the head of `StringsFile.swift`.
struct StringsParser {
  struct Entry {
    let key: String
    let value: String
    /// The byte offset of the key.
    let offset: Int
  }

  private var cursor: XMLCursor

  /// - Parameter bytes: UTF-8.
  init(_ bytes: [UInt8]) {
    cursor = XMLCursor(bytes)
  }

  mutating func entries(from start: Int) throws(Fault) -> [Entry] {
    try CharacterCheck.check(cursor.bytes, in: start..<cursor.end)
    cursor.index = start
    var entries: [Entry] = []
    while true {
      try skip()
      if cursor.isAtEnd { return entries }
      let offset = cursor.index
      let key = try word()
      try skip()
      var value = key
      if cursor.take("=") {
        try skip()
        value = try word()
        try skip()
      }
      guard cursor.take(";") else { throw malformed("expected ;") }
      entries.append(Entry(key: key, value: value, offset: offset))
    }
  }

  /// Skips white space and comments.
  private mutating func skip() throws(Fault) {
    while true {
      cursor.skipSpace()
      let start = cursor.index
      if cursor.take("//") {
        while !cursor.isAtEnd, cursor.byte != .lineFeed, cursor.byte != .carriageReturn {
          cursor.index += 1
        }
      } else if cursor.take("/*") {
        while !cursor.take("*/") {
          if cursor.isAtEnd { throw cursor.endOfFile(inside: "a comment", related: .opened(start)) }
          cursor.index += 1
        }
      } else {
        return
      }
    }
  }

  private mutating func word() throws(Fault) -> String {
    if cursor.byte == UInt8(ascii: "\"") || cursor.byte == UInt8(ascii: "'") {
      return try quoted(until: cursor.byte)
    }
    let start = cursor.index
    while cursor.byte.isBareWord { cursor.index += 1 }
    guard cursor.index > start else { throw malformed("expected a quoted string") }
    return cursor.text(start..<cursor.index)
  }

  private mutating func quoted(until quote: UInt8) throws(Fault) -> String {
    let start = cursor.index
    cursor.index += 1
    var units: [UInt8] = []
    while cursor.byte != quote {
      if cursor.isAtEnd { throw cursor.endOfFile(inside: "a text", related: .opened(start)) }
      if cursor.byte == UInt8(ascii: "\\") {
        units.append(contentsOf: try escape().utf8)
      } else {
        units.append(cursor.byte)
        cursor.index += 1
      }
    }
    cursor.index += 1
    return String(decoding: units, as: UTF8.self)
  }

  private func malformed(_ what: String) -> Fault {
    cursor.isAtEnd
      ? cursor.endOfFile(inside: "a translation")
      : Fault(
        .malformedStrings, at: cursor.index, what, cure: #"write "title" = "translation";"#)
  }
}

// MARK: - Escapes

extension StringsParser {
  /// Reads `\n` and the other control escapes, `\U00E9` in units of UTF-16, three octal digits, or
  /// any other character as itself.
  private mutating func escape() throws(Fault) -> String {
    let start = cursor.index
    cursor.index += 1
    let byte = cursor.byte
    if byte == UInt8(ascii: "U") || byte == UInt8(ascii: "u") {
      cursor.index += 1
      return try unicode(at: start)
    }
    if (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) {
      return String(Unicode.Scalar(UInt8(truncatingIfNeeded: number(digits: 3, radix: 8))))
    }
    let controls: [UInt8: String] = [
      UInt8(ascii: "n"): "\n", UInt8(ascii: "t"): "\t", UInt8(ascii: "r"): "\r",
      UInt8(ascii: "a"): "\u{7}", UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{C}",
      UInt8(ascii: "v"): "\u{B}",
    ]
    // The bytes of a longer character follow as they are.
    guard byte < 0x80, !cursor.isAtEnd else { return "" }
    cursor.index += 1
    return controls[byte] ?? String(Unicode.Scalar(byte))
  }

  private mutating func unicode(at start: Int) throws(Fault) -> String {
    var units = [UInt16(truncatingIfNeeded: number(digits: 4, radix: 16))]
    if UTF16.isLeadSurrogate(units[0]), cursor.take(#"\U"#) || cursor.take(#"\u"#) {
      units.append(UInt16(truncatingIfNeeded: number(digits: 4, radix: 16)))
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw Fault(
        .invalidCharacter, at: start, "this escape is an unpaired surrogate",
        cure: "write the character itself")
    }
    return text
  }

  private mutating func number(digits: Int, radix: UInt8) -> Int {
    var value = 0
    for _ in 0..<digits {
      guard let digit = cursor.byte.hexDigit, digit < radix else { break }
      value = value * Int(radix) + Int(digit)
      cursor.index += 1
    }
    return value
  }
}

extension UInt8 {
  /// Whether the byte may be part of an unquoted word.
  fileprivate var isBareWord: Bool {
    self < 0x80 && isName || self == UInt8(ascii: "$") || self == UInt8(ascii: "/")
  }
}
