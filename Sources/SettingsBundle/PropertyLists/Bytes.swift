// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
  static let lineFeed = UInt8(ascii: "\n")
  package static let carriageReturn = UInt8(ascii: "\r")

  /// XML's white space: space, tab, CR, LF.
  package var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D }

  var isDigit: Bool { self &- 0x30 < 10 }

  /// Whether the byte may be part of an XML name. Less strict than XML: all names that the parser
  /// accepts are ASCII letters, so this only has to find the end of a name.
  var isName: Bool {
    if (self | 0x20) &- 0x61 < 26 || self >= 0x80 || isDigit { return true }
    return self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self == UInt8(ascii: ".")
      || self == UInt8(ascii: ":")
  }

  var hexDigit: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }

  /// 1 if both are equal, else 0; without a branch, for loops over many bytes.
  func one(ifEqual other: UInt8) -> UInt8 {
    let difference = self ^ other
    return ((difference &- 1) & ~difference) >> 7
  }

  /// 1 unless the byte continues a character, else 0.
  var isFirstOfCharacter: UInt8 { ~(self >> 7) & 1 | (self >> 6) & 1 }
}

extension [UInt8] {
  /// The index after a byte order mark of UTF-8, which may be missing.
  package var startOfText: Int { starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

  /// The eight bytes at `index`, little-endian.
  func word(at index: Int) -> UInt64 {
    precondition(index >= 0 && index <= count - 8)
    return withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
  }

  /// Whether the bytes at `index` are this ASCII text.
  package func matches(_ text: StaticString, at index: Int) -> Bool {
    guard index + text.utf8CodeUnitCount <= count else { return false }
    return text.withUTF8Buffer { expected in
      for position in expected.indices where self[index + position] != expected[position] {
        return false
      }
      return true
    }
  }
}

/// Eight bytes at once, little-endian. A set of them is a mask of their highest bits.
extension UInt64 {
  /// A 1 in each byte.
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highest = ones << 7

  var isASCII: Bool { self & Self.highest == 0 }

  /// A set whose lowest byte is the first 0; without zeros it is empty. (Only the lowest is exact:
  /// borrows propagate upwards.)
  private var zeros: UInt64 { (self &- Self.ones) & ~self & Self.highest }

  /// The index of the first `byte`.
  func firstByte(_ byte: UInt8) -> Int? { (self ^ Self.ones * UInt64(byte)).zeros.firstIndex }

  /// The index of the first byte that ends plain text: `<`, `&` or NUL.
  var firstMarkup: Int? {
    let brackets = (self ^ Self.ones * UInt64(UInt8(ascii: "<"))).zeros
    return (brackets | (self ^ Self.ones * UInt64(UInt8(ascii: "&"))).zeros | zeros).firstIndex
  }

  private var firstIndex: Int? { self == 0 ? nil : trailingZeroBitCount / 8 }

  /// The first `count` bytes, fewer than eight; the others are 0.
  func lowest(_ count: Int) -> UInt64 { self & ~(.max &<< UInt64(8 * count)) }
}

extension String {
  /// Whether more than 30 combining marks follow each other: the limit of Unicode's Stream-Safe
  /// Text Format (UAX #15, section 13), which no text of any language exceeds. O(n).
  ///
  /// Comparing by canonical equivalence is quadratic in the length of such a run: it takes minutes
  /// for one hostile key.
  package var hasTooManyCombiningMarks: Bool {
    // A mark has at least two bytes.
    guard utf8.count > 60 else { return false }
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
      if run > 30 { return true }
    }
    return false
  }
}
