// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// Strict RFC 4648 base64 with white space anywhere: padding is required and its spare bits are
/// zero (section 3.5), so equal bytes have one spelling.
enum Base64 {
  /// - Throws: `Fault` at the first byte that does not belong, else at the end. O(n).
  static func decode(_ bytes: [UInt8], _ range: Range<Int>) throws(Fault) -> [UInt8] {
    let text = Data(bytes[range].filter { !$0.isSpace })
    // Foundation ignores spare bits.
    if let data = Data(base64Encoded: text), data.base64EncodedData() == text {
      return [UInt8](data)
    }
    throw fault(in: bytes, range)
  }

  private static func fault(in bytes: [UInt8], _ range: Range<Int>) -> Fault {
    var (digits, padding) = (0, 0)
    for index in range where !bytes[index].isSpace {
      if bytes[index].isBase64, padding == 0 {
        digits += 1
      } else if bytes[index] == UInt8(ascii: "="), digits % 4 >= 2, digits % 4 + padding < 4 {
        padding += 1
      } else {
        return fault("this character does not belong in base64", at: index)
      }
    }
    let isWhole = (digits + padding).isMultiple(of: 4)
    return fault(
      isWhole
        ? "the last base64 character has stray bits"
        : "base64 ends inside a group of four characters", at: range.upperBound)
  }

  private static func fault(_ what: String, at offset: Int) -> Fault {
    Fault(.invalidData, at: offset, what, cure: "encode the bytes again, with padding")
  }
}

extension UInt8 {
  fileprivate var isBase64: Bool {
    (self | 0x20) &- 0x61 < 26 || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "/")
  }
}
