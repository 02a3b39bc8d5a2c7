// SPDX-License-Identifier: Apache-2.0

// The prolog: the XML declaration (XML 1.0, production 23) and the document type (28) without an
// internal subset, so that no file can declare an entity. Like Foundation's parser it reads of them
// only what the rest of the file depends on.

extension XMLCursor {
  /// Skips a byte order mark and the XML declaration.
  ///
  /// - Returns: whether it declares another encoding than UTF-8.
  mutating func declaration() throws(Fault) -> Bool {
    if bytes.starts(with: [UInt8].byteOrderMark) { index = 3 }
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

  /// Throws at the first byte from here on that is not ASCII: every other byte is the same
  /// character in each encoding that a file without a byte order mark is likely to have.
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
  /// - Returns: false, and the index of a `[` or `<` outside quotes or of the end, if there is no
  ///   `>` before it.
  mutating func skipTag() -> Bool {
    while !isAtEnd, byte != UInt8(ascii: "["), byte != UInt8(ascii: "<") {
      if takeClose() { return true }
      if literal() == nil { index += 1 }
    }
    return false
  }
}
