// SPDX-License-Identifier: Apache-2.0
//
// The text of elements. Most text has neither references nor CDATA, and becomes a `String`
// directly; other text is assembled in a buffer.

extension PropertyListParser {
  /// Reads the text of `<string>` or `<key>` and the closing tag; the cursor is after the opening
  /// tag.
  mutating func string(_ name: ElementName, at start: Int) throws(Fault) -> String {
    let first = try plainText(name, at: start)
    if isAtClosingTag {
      try closingTag(name)
      return cursor.text(first)
    }
    var buffer = Array(cursor.bytes[first])
    while !isAtClosingTag {
      try piece(of: name, at: start, into: &buffer)
    }
    try closingTag(name)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Reads the bytes of a number, a date or data, without references and CDATA, and the closing
  /// tag.
  mutating func rawText(_ name: ElementName, at start: Int) throws(Fault) -> Range<Int> {
    let range = try plainText(name, at: start)
    guard isAtClosingTag else {
      throw Fault(
        .unexpectedElement, at: cursor.index, "<\(name.text)> may hold only plain characters",
        cure: "write the value without markup")
    }
    try closingTag(name)
    return range
  }

  private var isAtClosingTag: Bool {
    cursor.byte == UInt8(ascii: "<") && cursor.bytes[cursor.index + 1] == UInt8(ascii: "/")
  }

  /// Text up to the next `<` or `&`.
  private mutating func plainText(
    _ name: ElementName, at start: Int, used: Int = 0
  ) throws(Fault) -> Range<Int> {
    let first = cursor.index
    var index = first
    while true {
      if let next = cursor.bytes.word(at: index).firstMarkup {
        index += next
        break
      }
      index += 8
    }
    try checkLength(used + index - first, at: start)
    cursor.index = index
    if cursor.isAtEnd {
      throw cursor.endOfFile(inside: "<\(name.text)>")
    }
    return first..<index
  }

  private func checkLength(_ length: Int, at start: Int) throws(Fault) {
    guard length <= limits.textBytes else {
      throw Fault(
        .textTooLong, at: start, "this text is longer than the limit of \(limits.textBytes) bytes",
        cure: "shorten it, or raise the limit")
    }
  }

  private mutating func piece(
    of name: ElementName, at start: Int, into buffer: inout [UInt8]
  ) throws(Fault) {
    if cursor.byte == UInt8(ascii: "&") {
      let bytes = try reference().utf8
      try checkLength(buffer.count + bytes.count, at: start)
      buffer.append(contentsOf: bytes)
    } else if cursor.at("<![CDATA[") {
      let content = try cursor.skip("<![CDATA[", past: "]]>", of: "CDATA")
      try checkLength(buffer.count + content.count, at: start)
      buffer.append(contentsOf: cursor.bytes[content])
    } else {
      throw Fault(
        .unexpectedElement, at: cursor.index, "<\(name.text)> may hold only text",
        cure: "close it first, or write &lt; for the character")
    }
    buffer.append(contentsOf: cursor.bytes[try plainText(name, at: start, used: buffer.count)])
  }

  // MARK: - References

  /// Reads `&name;`, `&#123;` or `&#x7B;`.
  private mutating func reference() throws(Fault) -> Unicode.Scalar {
    let start = cursor.index
    cursor.index += 1
    if cursor.take("#") { return try numericReference(at: start) }
    let name = cursor.name()
    guard !name.isEmpty, cursor.take(";") else { throw badReference(at: start) }
    switch name.count > 4 ? "" : cursor.text(name) {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "apos": return "'"
    case "quot": return "\""
    default:
      throw Fault(
        .invalidReference, at: start, "unknown entity \(cursor.text(name).quoted)",
        cure: "use &lt; &gt; &amp; &apos; &quot; or a number such as &#233;")
    }
  }

  private mutating func numericReference(at start: Int) throws(Fault) -> Unicode.Scalar {
    let radix: UInt32 = cursor.take("x") ? 16 : 10
    let first = cursor.index
    var value: UInt32 = 0
    while let digit = cursor.byte.hexDigit, digit < radix {
      // Saturates above every scalar, so that any number of digits fits.
      value = min(value * radix + UInt32(digit), 0x110000)
      cursor.index += 1
    }
    guard cursor.index > first, cursor.take(";") else { throw badReference(at: start) }
    guard CharacterCheck.isLegal(value), let scalar = Unicode.Scalar(value) else {
      throw Fault(
        .invalidCharacter, at: start, "XML does not allow the character of this reference",
        cure: "remove it")
    }
    return scalar
  }

  private func badReference(at start: Int) -> Fault {
    Fault(
      .invalidReference, at: start, "& does not start a reference here",
      cure: "write &amp; for the character")
  }
}
