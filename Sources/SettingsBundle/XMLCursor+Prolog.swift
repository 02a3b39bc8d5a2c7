// SPDX-License-Identifier: Apache-2.0
//
// The prolog: the XML declaration (XML 1.0, productions 23 to 32 and 80) and the document type (28)
// without an internal subset, so that no file can declare an entity.

extension XMLCursor {
  /// Skips a byte order mark and the XML declaration; refuses any encoding that is not UTF-8.
  ///
  /// - Returns: whether it declares ASCII.
  mutating func declaration() throws(Fault) -> Bool {
    if bytes.starts(with: [UInt8].byteOrderMark) { index = 3 }
    skipSpace()
    guard at("<?xml"), !bytes[index + 5].isName else { return false }
    let start = index
    index += 5
    guard skipSpace(), let version = attribute("version") else {
      throw malformedDeclaration("expected version=\"1.0\" in quotes", start)
    }
    guard isText("1.0", version) else {
      let what = "XML version \(text(version).quoted) is not supported"
      throw Fault(
        .malformedDeclaration, at: version.lowerBound, what, cure: "write version=\"1.0\"")
    }
    var isApart = skipSpace()
    var isASCII = false
    if isApart, let encoding = attribute("encoding") {
      isASCII = try check(encoding)
      isApart = skipSpace()
    }
    if isApart, let standalone = attribute("standalone") {
      guard isText("yes", standalone) || isText("no", standalone) else {
        throw malformedDeclaration("standalone is \"yes\" or \"no\"", start)
      }
      skipSpace()
    }
    guard take("?>") else { throw malformedDeclaration("expected ?>", start) }
    return isASCII
  }

  /// Skips an optional document type.
  mutating func doctype() throws(Fault) {
    let start = index
    guard take("<!DOCTYPE") else { return }
    let isName = skipSpace()
    let type = name()
    guard isName, !type.isEmpty else { throw malformedDoctype("expected a name", start) }
    guard isText("plist", type) else {
      let fault = Fault(
        .malformedDoctype, at: type.lowerBound,
        "the document type is \(text(type).quoted), not plist",
        cure: "write plist, or remove the document type, if this is a property list")
      throw self.fault(fault, from: start, inside: "the document type")
    }
    let isApart = skipSpace()
    if isApart, take("PUBLIC") {
      guard skipSpace(), literal() != nil, skipSpace(), literal() != nil else {
        throw malformedDoctype("PUBLIC takes two names in quotes", start)
      }
    } else if isApart, take("SYSTEM") {
      guard skipSpace(), literal() != nil else {
        throw malformedDoctype("SYSTEM takes a name in quotes", start)
      }
    }
    skipSpace()
    if byte == UInt8(ascii: "[") {
      throw Fault(
        .internalSubset, at: index, "the document type declares entities or elements",
        cure: "remove everything from [ to ]")
    }
    guard take(">") else { throw malformedDoctype("expected >", start) }
  }

  /// The value of `name = "…"`; nil, and no step, if something else follows.
  mutating func attribute(_ name: StaticString) -> Range<Int>? {
    let start = index
    if take(name) {
      skipSpace()
      if take("=") {
        skipSpace()
        if let value = literal() { return value }
      }
    }
    index = start
    return nil
  }

  /// - Returns: whether it is ASCII.
  private func check(_ encoding: Range<Int>) throws(Fault) -> Bool {
    let name = encoding.count > 8 ? "" : text(encoding).uppercased()
    guard ["UTF-8", "UTF8", "US-ASCII"].contains(name) else {
      throw Fault(
        .unsupportedEncoding, at: encoding.lowerBound,
        "the encoding \(text(encoding).quoted) is not supported",
        cure: "save the file as UTF-8 and declare that here")
    }
    return name == "US-ASCII"
  }

  /// Throws at the first byte from here on that is not ASCII.
  func checkASCII() throws(Fault) {
    guard let other = bytes[index..<end].firstIndex(where: { $0 >= 0x80 }) else { return }
    throw Fault(
      .unsupportedEncoding, at: other,
      "this character is not ASCII, but the declaration says ASCII",
      cure: "declare encoding=\"UTF-8\"")
  }

  /// Whether the bytes are those of an ASCII text.
  private func isText(_ text: StaticString, _ range: Range<Int>) -> Bool {
    range.count == text.utf8CodeUnitCount && bytes.matches(text, at: range.lowerBound)
  }

  private func malformedDeclaration(_ what: String, _ start: Int) -> Fault {
    let fault = Fault(
      .malformedDeclaration, at: index, "the XML declaration is malformed: \(what)",
      cure: "write <?xml version=\"1.0\" encoding=\"UTF-8\"?>")
    return self.fault(fault, from: start, inside: "the XML declaration")
  }

  private func malformedDoctype(_ what: String, _ start: Int) -> Fault {
    let fault = Fault(
      .malformedDoctype, at: index, "the document type is malformed: \(what)",
      cure: "remove the document type, no reader needs it")
    return self.fault(fault, from: start, inside: "the document type")
  }
}
