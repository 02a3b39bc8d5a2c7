// SPDX-License-Identifier: Apache-2.0
//
// One pass before parsing, so that the parser can assume that every character is legal:
// - well-formed UTF-8 (Unicode, table 3-7: no overlong form, no surrogate, nothing above U+10FFFF);
// - only characters of XML 1.0, production 2 "Char": no control but tab, CR and LF, no U+FFFE,
//   U+FFFF.

enum CharacterCheck {
  /// The number of bytes that are checked together: enough for vector instructions, and few enough
  /// to check again one by one.
  private static let block = 64

  /// Throws at the first byte of the range that is not part of a legal character. O(n).
  static func check(_ bytes: [UInt8], in range: Range<Int>) throws(Fault) {
    var index = range.lowerBound
    while index < range.upperBound {
      let end = min(index + block, range.upperBound)
      if arePlain(bytes[index..<end]) {
        index = end
        continue
      }
      while index < end {
        let byte = bytes[index]
        if byte >= 0x80 {
          index += try multibyte(bytes[index..<range.upperBound])
        } else if byte >= 0x20 || byte.isSpace {
          index += 1
        } else {
          throw illegal(UInt32(byte), at: index)
        }
      }
    }
  }

  /// Whether all bytes are ASCII characters that XML allows. Most blocks of most files are.
  private static func arePlain(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var arePlain: UInt8 = 1
      // No branch depends on a byte, so that the compiler takes 16 at once.
      for byte in bytes {
        // Above the space as a signed number: neither a control nor beyond ASCII.
        let isPrintable: UInt8 = Int8(bitPattern: byte) >= 0x20 ? 1 : 0
        let isTab: UInt8 = byte == 0x09 ? 1 : 0
        let isLineFeed: UInt8 = byte == .lineFeed ? 1 : 0
        let isReturn: UInt8 = byte == .carriageReturn ? 1 : 0
        arePlain &= isPrintable | isTab | isLineFeed | isReturn
      }
      return arePlain == 1
    }
  }

  /// XML 1.0, production 2.
  static func isLegal(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  /// The length of the sequence that `rest`, not empty, starts with.
  private static func multibyte(_ rest: ArraySlice<UInt8>) throws(Fault) -> Int {
    var bytes = rest.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    guard case .valid(let sequence) = parser.parseScalar(from: &bytes) else {
      throw Fault(
        .invalidUTF8, at: rest.startIndex, "these bytes are not UTF-8",
        cure: "save the file as UTF-8")
    }
    let scalar = Unicode.UTF8.decode(sequence).value
    guard isLegal(scalar) else { throw illegal(scalar, at: rest.startIndex) }
    return sequence.count
  }

  private static func illegal(_ scalar: UInt32, at offset: Int) -> Fault {
    let digits = String(scalar, radix: 16, uppercase: true)
    let name = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    return Fault(
      .invalidCharacter, at: offset, "the character \(name) is not allowed in XML",
      cure: "remove it")
  }
}
