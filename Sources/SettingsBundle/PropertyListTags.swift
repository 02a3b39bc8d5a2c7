// SPDX-License-Identifier: Apache-2.0

/// The elements that stand in a `<plist>`.
enum ElementName: CaseIterable {
  case array, data, date, dict, `false`, integer, key, real, string, `true`

  var text: StaticString {
    switch self {
    case .array: "array"
    case .data: "data"
    case .date: "date"
    case .dict: "dict"
    case .false: "false"
    case .integer: "integer"
    case .key: "key"
    case .real: "real"
    case .string: "string"
    case .true: "true"
    }
  }

  /// The element whose name stands in `range`.
  init?(_ bytes: [UInt8], _ range: Range<Int>) {
    guard let first = range.first, let last = range.last,
      let name = Self.candidate(bytes[first], bytes[last]),
      range.count == name.text.utf8CodeUnitCount, bytes.matches(name.text, at: first)
    else { return nil }
    self = name
  }

  /// The only element that has this first and this last letter.
  private static func candidate(_ first: UInt8, _ last: UInt8) -> ElementName? {
    switch (Unicode.Scalar(first), Unicode.Scalar(last)) {
    case ("a", "y"): .array
    case ("d", "a"): .data
    case ("d", "e"): .date
    case ("d", "t"): .dict
    case ("f", "e"): .false
    case ("i", "r"): .integer
    case ("k", "y"): .key
    case ("r", "l"): .real
    case ("s", "g"): .string
    case ("t", "e"): .true
    default: nil
    }
  }
}

extension PropertyListParser {
  /// Reads `<name>` or `<name/>`.
  mutating func openingTag() throws(Fault) -> (name: ElementName, isEmpty: Bool) {
    let start = cursor.index
    cursor.index += 1
    let range = cursor.name()
    guard let name = ElementName(cursor.bytes, range) else {
      throw unknown(range, at: start)
    }
    if cursor.take(">") { return (name, false) }
    let isApart = cursor.skipSpace()
    if cursor.take(">") { return (name, false) }
    if cursor.take("/>") { return (name, true) }
    throw tagFault("<\(name.text)>", start, isApart: isApart)
  }

  /// Reads `</name>`; `opened` is the place of its `<name>`.
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

  /// What is wrong at the cursor, inside of the tag that starts at `start`.
  func tagFault(_ tag: String, _ start: Int, isApart: Bool) -> Fault {
    let fault =
      isApart && cursor.byte.isName
      ? Fault(
        .unexpectedAttribute, at: cursor.index,
        "this attribute does not belong into \(tag): only <plist> has one, its version",
        cure: "remove it")
      : Fault(
        .malformedTag, at: cursor.index, "\(tag) is malformed here", cure: "close the tag with >")
    return cursor.fault(fault, from: start, inside: tag)
  }

  private func unknown(_ name: Range<Int>, at start: Int) -> Fault {
    cursor.fault(unknownElement(name, at: start), from: start, inside: "a tag")
  }

  private func unknownElement(_ name: Range<Int>, at start: Int) -> Fault {
    if name.isEmpty {
      return Fault(
        .malformedTag, at: start, "< starts no tag here", cure: "write &lt; for the character")
    }
    let text = cursor.text(name)
    let isOnlyCase = ElementName.allCases.contains { "\($0.text)" == text.lowercased() }
    if text == "plist" {
      return Fault(
        .unexpectedElement, at: start, "<plist> stands inside of <plist>",
        cure: "keep the value and remove the inner <plist>")
    }
    return Fault(
      .unexpectedElement, at: start, "\(text.quoted) is no element of a property list",
      cure: isOnlyCase ? "write its name in lower case" : "remove it")
  }
}
