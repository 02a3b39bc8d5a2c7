// SPDX-License-Identifier: Apache-2.0

/// Numbers as 16 lowercase hexadecimal digits: IDs, timestamps, and the random bits of marks.
package enum HexNumber {
  package static func text(_ number: Int64) -> String {
    let digits = String(UInt64(bitPattern: number), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// - Returns: nil for another text, and for a negative number.
  package static func number(_ text: some StringProtocol) -> Int64? {
    guard text.utf8.count == 16,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    return Int64(text, radix: 16)
  }
}
