// SPDX-License-Identifier: Apache-2.0

extension PropertyListParser {
  /// Reads `<name>` or `<name/>`, whatever attributes it has.
  mutating func openingTag() throws(Fault) -> (name: ElementName, isEmpty: Bool) {
    if let name = plainTag() { return (name, false) }
    let start = cursor.index
    cursor.index += 1
    let range = cursor.name()
    guard let name = ElementName(cursor.bytes, range) else {
      throw unknown(range, at: start)
    }
    if cursor.take("/>") { return (name, true) }
    guard cursor.byte.isSpace, cursor.skipTag() else { throw malformed("<\(name.text)>") }
    return (name, cursor.bytes[cursor.index - 2] == UInt8(ascii: "/"))
  }

  /// Takes a tag of exactly `<name>`: the fast path for nearly all tags.
  private mutating func plainTag() -> ElementName? {
    let word = cursor.bytes.word(at: cursor.index + 1)
    guard let length = word.firstByte(UInt8(ascii: ">")),
      let name = ElementName(rawValue: word.lowest(length))
    else { return nil }
    cursor.index += length + 2
    return name
  }

  /// Reads `</name>`.
  mutating func closingTag(_ name: ElementName) throws(Fault) {
    let after = cursor.index + 2 + name.count
    guard after <= cursor.end, cursor.bytes[after] == UInt8(ascii: ">"),
      cursor.bytes.word(at: cursor.index + 2).lowest(name.count) == name.rawValue
    else { return try closingTag(name.text) }
    cursor.index = after + 1
  }

  /// Reads a closing tag with white space or faults.
  mutating func closingTag(_ name: StaticString) throws(Fault) {
    let start = cursor.index
    cursor.index += 2
    guard cursor.take(name), !cursor.byte.isName else {
      throw Fault(
        .mismatchedTag, at: start, "expected </\(name)>", cure: "close the element that is open")
    }
    cursor.skipSpace()
    guard cursor.take(">") else { throw malformed("</\(name)>") }
  }

  /// The fault at the cursor, within a tag.
  func malformed(_ tag: String) -> Fault {
    Fault(
      .malformedTag, at: cursor.index, "\(tag) is malformed here", cure: "close the tag with >")
  }

  private func unknown(_ name: Range<Int>, at start: Int) -> Fault {
    guard !name.isEmpty else {
      return Fault(
        .malformedTag, at: start, "< does not start a tag here",
        cure: "write &lt; for the character")
    }
    return Fault(
      .unexpectedElement, at: start,
      "\(cursor.text(name).quoted) is not an element of a property list",
      cure: "remove it, or write its name in lower case")
  }
}
