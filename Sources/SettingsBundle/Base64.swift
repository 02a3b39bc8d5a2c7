// SPDX-License-Identifier: Apache-2.0

/// Strict RFC 4648 base64; white space anywhere when reading.
enum Base64 {
  /// The bytes; fails at the first byte that does not belong. Padding is required, and the bits
  /// that it leaves over are zero (RFC 4648, section 3.5), so that equal bytes have one spelling.
  /// O(n).
  static func decode(_ bytes: [UInt8], _ range: Range<Int>) throws(Fault) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(range.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    var padding = 0
    for index in range where !bytes[index].isSpace {
      let byte = bytes[index]
      if byte == UInt8(ascii: "="), count + padding >= 2, count + padding < 4 {
        padding += 1
        continue
      }
      guard padding == 0, let digit = value(of: byte) else {
        throw fault("this character does not belong into base64", at: index)
      }
      group = group << 6 | digit
      count += 1
      if count == 4 {
        out.append(UInt8(truncatingIfNeeded: group >> 16))
        out.append(UInt8(truncatingIfNeeded: group >> 8))
        out.append(UInt8(truncatingIfNeeded: group))
        (group, count) = (0, 0)
      }
    }
    guard count == 0 && padding == 0 || count + padding == 4 else {
      throw fault("base64 ends inside a group of four characters", at: range.upperBound)
    }
    try finish(group, count, at: range.upperBound, into: &out)
    return out
  }

  /// The two or three digits before the padding.
  private static func finish(
    _ group: UInt32, _ count: Int, at end: Int, into out: inout [UInt8]
  ) throws(Fault) {
    let spare = count == 2 ? group & 0xF : count == 3 ? group & 0x3 : 0
    guard spare == 0 else { throw fault("the last base64 character has stray bits", at: end) }
    if count == 2 { out.append(UInt8(truncatingIfNeeded: group >> 4)) }
    if count == 3 {
      out.append(UInt8(truncatingIfNeeded: group >> 10))
      out.append(UInt8(truncatingIfNeeded: group >> 2))
    }
  }

  /// Appends the bytes with padding and without white space. O(n).
  static func encode(_ bytes: ArraySlice<UInt8>, into out: inout [UInt8]) {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let count = min(3, bytes.endIndex - index)
      var group: UInt32 = 0
      for place in 0..<3 {
        group = group << 8 | (place < count ? UInt32(bytes[index + place]) : 0)
      }
      for place in 0..<4 {
        let digit = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * place) & 0x3F)
        out.append(place <= count ? character(of: digit) : UInt8(ascii: "="))
      }
      index += count
    }
  }

  private static func character(of digit: UInt8) -> UInt8 {
    switch digit {
    case 0..<26: digit + UInt8(ascii: "A")
    case 26..<52: digit - 26 + UInt8(ascii: "a")
    case 52..<62: digit - 52 + UInt8(ascii: "0")
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }

  private static func fault(_ what: String, at offset: Int) -> Fault {
    Fault(.invalidData, at: offset, what, cure: "encode the bytes again, with padding")
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
