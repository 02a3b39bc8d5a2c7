// SPDX-License-Identifier: Apache-2.0
//
// Recognises other formats by their first bytes, so that the error can name the conversion.

enum ForeignFormat {
  /// Throws if the bytes are recognisably not XML in UTF-8.
  static func refuse(_ bytes: [UInt8]) throws(Fault) {
    try refuseWideEncodings(bytes)
    let start = bytes.starts(with: [UInt8].byteOrderMark) ? 3 : 0
    guard let first = bytes[start...].firstIndex(where: { !$0.isSpace }) else {
      throw Fault(
        .empty, at: start, "the file is empty", cure: "write an XML property list into it")
    }
    guard bytes[first] == UInt8(ascii: "<") else {
      throw Fault(
        .notXML, at: first, "this is not XML, which starts with <, nor a binary property list",
        cure: "convert it with plutil -convert xml1")
    }
  }

  private static func refuseWideEncodings(_ bytes: [UInt8]) throws(Fault) {
    guard isWide(bytes) else { return }
    throw Fault(
      .unsupportedEncoding, at: 0, "the file is in UTF-16 or UTF-32", cure: "save it as UTF-8")
  }

  /// Whether this is text in UTF-16 or UTF-32, by its byte order mark or by the zero bytes of a
  /// leading ASCII character.
  static func isWide(_ bytes: [UInt8]) -> Bool {
    let (head, zeros) = (bytes.prefix(4), bytes.prefix(4).map { $0 == 0 })
    return [[0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF]].contains(where: head.starts)
      || [[false, true], [true, false], [true, true, true, false]].contains(where: zeros.starts)
  }
}
