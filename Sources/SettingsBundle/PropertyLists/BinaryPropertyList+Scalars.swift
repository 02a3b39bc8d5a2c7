// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension BinaryPropertyList {
  /// The object at `start`, other than an array or a dictionary.
  mutating func scalar(at start: Int) throws(Fault) -> PropertyListNode.Value {
    let marker = bytes[start]
    switch marker {
    case 0x08, 0x09: return .boolean(marker == 0x09)
    case 0x10...0x14: return try integer(at: start)
    case 0x22:
      let bits = number(at: try fixedContent(of: start, size: 4).lowerBound, size: 4)
      return .real(Double(Float(bitPattern: UInt32(bits))))
    case 0x23: return .real(try double(at: start))
    case 0x33: return .date(try date(at: start))
    case 0x40...0x4F: return .data([UInt8](bytes[try text(of: start, size: 1)]))
    case 0x50...0x6F: return .string(try string(at: start))
    default: throw unstorable(marker, at: start)
    }
  }

  private func fixedContent(of start: Int, size: Int) throws(Fault) -> Range<Int> {
    try content(of: start, from: start + 1, count: 1, size: size)
  }

  /// Integers of up to four bytes are unsigned, those of eight and sixteen are signed.
  private func integer(at start: Int) throws(Fault) -> PropertyListNode.Value {
    let range = try fixedContent(of: start, size: 1 << Int(bytes[start] & 0xF))
    let bits = bytes[range].reduce(0 as Int128) { $0 &<< 8 | Int128($1) }
    let number = range.count == 8 ? Int128(Int64(truncatingIfNeeded: bits)) : bits
    guard let value = PropertyListNode.Value(integer: number) else {
      throw Fault(
        .integerOutOfRange, at: start, "this integer is outside \(Int64.min)…\(UInt64.max)",
        cure: "use a smaller one, a real or a string")
    }
    return value
  }

  private func double(at start: Int) throws(Fault) -> Double {
    Double(bitPattern: number(at: try fixedContent(of: start, size: 8).lowerBound, size: 8))
  }

  private func date(at start: Int) throws(Fault) -> Date {
    let seconds = try double(at: start)
    guard seconds.isFinite else {
      throw Fault(.invalidDate, at: start, "this date is not finite", cure: "set it again")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  /// The range of a string or data, whose length counts towards the limits.
  private mutating func text(of start: Int, size: Int) throws(Fault) -> Range<Int> {
    let range = try content(of: start, size: size)
    guard range.count <= limits.textBytes else {
      throw Fault(
        .textTooLong, at: start, "this is longer than \(limits.textBytes) bytes",
        cure: "shorten it, or raise the limit")
    }
    textBytes += range.count
    let most = bytes.count + PropertyListLimits().bytes
    guard textBytes <= most else {
      throw Fault(
        .textTooLong, at: start, "shared strings and data expand to more than \(most) bytes",
        cure: "convert the file to XML")
    }
    return range
  }

  /// Reads ASCII or UTF-16.
  mutating func string(at start: Int) throws(Fault) -> String {
    let isWide = bytes[start] >= 0x60
    let range = try text(of: start, size: isWide ? 2 : 1)
    let text =
      isWide
      ? String(
        validating: stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
          UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }, as: UTF16.self)
      : String(validating: bytes[range], as: Unicode.ASCII.self)
    guard let text else {
      throw Fault(
        .invalidCharacter, at: start,
        isWide ? "this string has an unpaired surrogate" : "this string of ASCII has other bytes",
        cure: "write it again")
    }
    return text
  }

  private func unstorable(_ marker: UInt8, at start: Int) -> Fault {
    let what: String? =
      switch marker {
      case 0x00: "a null"
      case 0x80...0x8F: "a UID of a keyed archive"
      case 0xB0...0xCF: "a set"
      case 0x0C...0x0E: "a URL or a UUID"
      default: nil
      }
    guard let what else { return damage(at: start, "unknown type of object") }
    return Fault(
      .wrongType, at: start, "a store cannot hold \(what)",
      cure: "remove it, or write it with another type")
  }
}
