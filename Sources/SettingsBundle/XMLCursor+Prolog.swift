// SPDX-License-Identifier: Apache-2.0
//
// What stands before `<plist>`: the XML declaration (XML 1.0, productions 23 to 32 and 80) and the
// document type (28) without an internal subset, so that no file can declare an entity.

extension XMLCursor {
  /// Skips a byte order mark and the XML declaration; refuses any encoding that is not UTF-8.
  mutating func declaration() throws(Fault) {
    if bytes.starts(with: [UInt8].byteOrderMark) { index = 3 }
    skipSpace()
    guard at("<?xml"), !bytes[index + 5].isName else { return }
    let start = index
    index += 5
    guard skipSpace(), let version = attribute("version") else {
      throw malformedDeclaration("expected version=\"1.0\" in quotes", start)
    }
    guard text(version) == "1.0" else {
      let what = "XML version \(text(version).quoted) is not supported"
      throw Fault(
        .malformedDeclaration, at: version.lowerBound, what, cure: "write version=\"1.0\"")
    }
    var isApart = skipSpace()
    if isApart, let encoding = attribute("encoding") {
      try check(encoding)
      isApart = skipSpace()
    }
    if isApart, let standalone = attribute("standalone") {
      guard ["yes", "no"].contains(text(standalone)) else {
        throw malformedDeclaration("standalone is \"yes\" or \"no\"", start)
      }
      skipSpace()
    }
    guard take("?>") else { throw malformedDeclaration("expected ?>", start) }
  }

  /// Skips a document type if there is one.
  mutating func doctype() throws(Fault) {
    let start = index
    guard take("<!DOCTYPE") else { return }
    guard skipSpace(), !name().isEmpty else { throw malformedDoctype("expected a name", start) }
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
        .internalSubset, at: index, "the document type declares entities or elements of its own",
        cure: "remove everything from [ to ]")
    }
    guard take(">") else { throw malformedDoctype("expected >", start) }
  }

  /// The value of `name = "…"`; nil, and no step, if that is not what stands here.
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

  private func check(_ encoding: Range<Int>) throws(Fault) {
    let name = text(encoding)
    guard ["UTF-8", "UTF8", "US-ASCII"].contains(name.uppercased()) else {
      throw Fault(
        .unsupportedEncoding, at: encoding.lowerBound,
        "the encoding \(name.quoted) is not supported",
        cure: "save the file as UTF-8 and say so here")
    }
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
