// SPDX-License-Identifier: Apache-2.0

extension PropertyListParser {
  /// Reads `<name>` or `<name/>`.
  mutating func openingTag() throws(Fault) -> (name: ElementName, isEmpty: Bool) {
    if let name = plainTag() { return (name, false) }
    let start = cursor.index
    cursor.index += 1
    let range = cursor.name()
    guard let name = ElementName(cursor.bytes, range) else {
      throw unknown(range, at: start)
    }
    if cursor.takeClose() { return (name, false) }
    let isApart = cursor.skipSpace()
    if cursor.takeClose() { return (name, false) }
    if cursor.take("/>") { return (name, true) }
    throw tagFault("<\(name.text)>", start, isApart: isApart)
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

  /// Reads `</name>`; `opened` is the offset of its `<name>`.
  mutating func closingTag(_ name: ElementName, opened: Int) throws(Fault) {
    let after = cursor.index + 2 + name.count
    guard after <= cursor.end, cursor.bytes[after] == UInt8(ascii: ">"),
      cursor.bytes.word(at: cursor.index + 2).lowest(name.count) == name.rawValue
    else { return try closingTag(name.text, opened: opened) }
    cursor.index = after + 1
  }

  /// Reads a closing tag with white space or faults.
  mutating func closingTag(_ name: StaticString, opened: Int) throws(Fault) {
    let start = cursor.index
    cursor.index += 2
    guard cursor.take(name), !cursor.byte.isName else {
      let fault = Fault(
        .mismatchedTag, at: start, "expected </\(name)>", cure: "close the element that is open",
        related: .opened(opened))
      throw cursor.fault(fault, from: start, inside: "<\(name)>")
    }
    cursor.skipSpace()
    guard cursor.take(">") else { throw tagFault("</\(name)>", start, isApart: false) }
  }

  /// The fault at the cursor, within the tag that starts at `start`.
  func tagFault(_ tag: String, _ start: Int, isApart: Bool) -> Fault {
    let fault =
      isApart && cursor.byte.isName
      ? Fault(
        .unexpectedAttribute, at: cursor.index,
        "\(tag) has no attributes: only <plist> has one, its version",
        cure: "remove it")
      : Fault(
        .malformedTag, at: cursor.index, "\(tag) is malformed here", cure: "close the tag with >")
    return cursor.fault(fault, from: start, inside: tag)
  }

  private func unknown(_ name: Range<Int>, at start: Int) -> Fault {
    cursor.fault(unknownElement(name, at: start), from: start, inside: "a tag")
  }

  private func unknownElement(_ name: Range<Int>, at start: Int) -> Fault {
    if cursor.bytes.matches("<![CDATA[", at: start) {
      return Fault(
        .malformedTag, at: start, "CDATA between elements", cure: "move it into a <string>")
    }
    if cursor.bytes.matches("<!", at: start) {
      return Fault(
        .malformedTag, at: start, "a declaration within <plist>", cure: "remove it")
    }
    if name.isEmpty {
      return Fault(
        .malformedTag, at: start, "< does not start a tag here",
        cure: "write &lt; for the character")
    }
    let text = cursor.text(name)
    let lower = name.count > 8 ? "" : text.lowercased()
    let isOnlyCase = ElementName.allCases.contains { "\($0.text)" == lower }
    if text.isSame("plist") {
      return Fault(
        .unexpectedElement, at: start, "<plist> within <plist>",
        cure: "keep the value and remove the inner <plist>")
    }
    return Fault(
      .unexpectedElement, at: start, "\(text.quoted) is not an element of a property list",
      cure: isOnlyCase ? "write its name in lower case" : "remove it")
  }
}
