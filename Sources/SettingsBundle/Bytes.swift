// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")

  /// XML's white space: space, tab, CR, LF.
  var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D }

  var isDigit: Bool { self &- 0x30 < 10 }

  /// A byte of a name, as far as messages and the end of a name need it: every name that we accept
  /// is ASCII letters.
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
}

extension [UInt8] {
  static var byteOrderMark: [UInt8] { [0xEF, 0xBB, 0xBF] }

  /// Whether the ASCII text stands at `index`.
  func matches(_ text: StaticString, at index: Int) -> Bool {
    guard index + text.utf8CodeUnitCount <= count else { return false }
    return text.withUTF8Buffer { expected in
      for position in expected.indices where self[index + position] != expected[position] {
        return false
      }
      return true
    }
  }
}
