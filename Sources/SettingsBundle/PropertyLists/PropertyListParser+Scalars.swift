// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension PropertyListParser {
  /// The value of an element other than `<array>`, `<dict>` and `<key>`.
  mutating func scalar(
    _ name: ElementName, at start: Int, isEmpty: Bool
  ) throws(Fault) -> PropertyListNode.Value {
    switch name {
    case .string: return .string(isEmpty ? "" : try string(name, at: start))
    case .true, .false: return .boolean(try boolean(name, isEmpty: isEmpty))
    default: break
    }
    let range = isEmpty ? cursor.index..<cursor.index : try rawText(name, at: start)
    switch name {
    case .integer: return try integer(range, at: start)
    case .real: return .real(try real(range, at: start))
    case .date: return .date(try date(range, at: start))
    default: return .data(try base64(range))
    }
  }

  private mutating func boolean(_ name: ElementName, isEmpty: Bool) throws(Fault) -> Bool {
    if !isEmpty {
      guard cursor.at("</") else {
        throw Fault(
          .invalidBoolean, at: cursor.index, "<\(name.text)> is not empty",
          cure: "write <\(name.text)/>")
      }
      try closingTag(name)
    }
    return name == .true
  }

  /// Strict RFC 4648 base64 with white space anywhere: padding is required and its spare bits are
  /// zero (section 3.5), so equal bytes have one spelling.
  private func base64(_ range: Range<Int>) throws(Fault) -> [UInt8] {
    let text = Data(cursor.bytes[range].filter { !$0.isSpace })
    // Foundation ignores spare bits.
    if let data = Data(base64Encoded: text), data.base64EncodedData() == text {
      return [UInt8](data)
    }
    throw Fault(
      .invalidData, at: range.lowerBound, "this is not base64",
      cure: "encode the bytes again, with padding")
  }

  /// The range without white space at its ends.
  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (first, last) = (range.lowerBound, range.upperBound)
    while first < last, cursor.bytes[first].isSpace { first += 1 }
    while last > first, cursor.bytes[last - 1].isSpace { last -= 1 }
    return first..<last
  }

  // MARK: - Numbers

  /// `[+-]?([0-9]+|0[xX][0-9A-Fa-f]+)` from `Int64.min` to `UInt64.max`, with white space around
  /// it.
  private func integer(
    _ range: Range<Int>, at start: Int
  ) throws(Fault) -> PropertyListNode.Value {
    var digits = cursor.bytes[trimmed(range)]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    var radix: UInt8 = 10
    if digits.count > 2, digits.first == UInt8(ascii: "0"),
      digits[digits.startIndex + 1] | 0x20 == UInt8(ascii: "x")
    {
      radix = 16
      digits.removeFirst(2)
    }
    guard !digits.isEmpty else { throw notAnInteger(at: start) }
    var magnitude: Int128 = 0
    for byte in digits {
      guard let digit = byte.hexDigit, digit < radix else { throw notAnInteger(at: start) }
      // Saturates above every integer, so that any number of digits fits.
      magnitude = min(magnitude * Int128(radix) + Int128(digit), 1 << 64)
    }
    guard let value = PropertyListNode.Value(integer: isNegative ? -magnitude : magnitude) else {
      throw Fault(
        .integerOutOfRange, at: start, "this integer is outside \(Int64.min)…\(UInt64.max)",
        cure: "use a smaller one, a <real> or a <string>")
    }
    return value
  }

  private func notAnInteger(at start: Int) -> Fault {
    Fault(
      .invalidInteger, at: start, "this is not an integer",
      cure: "write decimal digits, or 0x and hexadecimal ones")
  }

  private static let namesOfReals = [
    "nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity",
  ]

  private static let longestNameOfReals = 9

  /// A decimal number, or CoreFoundation's names of NaN and infinity, with white space around it.
  /// Underflow gives 0, overflow is an error.
  private func real(_ range: Range<Int>, at start: Int) throws(Fault) -> Double {
    let text = cursor.text(trimmed(range))
    // `Double` also reads hexadecimal digits and other names.
    let isDecimal = text.utf8.allSatisfy { byte in
      byte.isDigit || byte | 0x20 == UInt8(ascii: "e") || byte == UInt8(ascii: ".")
        || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }
    // A long run of combining marks would take minutes to be put into lower case.
    let mayBeName = !isDecimal && text.utf8.count <= Self.longestNameOfReals
    let isName = mayBeName && Self.namesOfReals.contains(text.lowercased())
    guard isDecimal || isName, let number = Double(text) else {
      throw Fault(
        .invalidReal, at: start, "this is not a number",
        cure: "write digits such as 1.5, or nan, inf, -inf")
    }
    guard number.isFinite || isName else {
      throw Fault(
        .realOutOfRange, at: start, "this number is too large", cure: "write a smaller one, or inf")
    }
    return number
  }

  /// `YYYY-MM-DDTHH:MM:SSZ` of the proleptic Gregorian calendar, years 1 to 9999.
  private func date(_ range: Range<Int>, at start: Int) throws(Fault) -> Date {
    // `ISO8601` reads no other form of 20 characters.
    guard range.count == 20, cursor.bytes[range.lowerBound + 10] == UInt8(ascii: "T"),
      !cursor.bytes.matches("0000", at: range.lowerBound),
      let seconds = ISO8601.secondsSince2001(cursor.text(range))
    else {
      throw Fault(
        .invalidDate, at: start, "this is not a date that exists",
        cure: "write it as 2026-11-20T10:00:00Z, in UTC")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }
}
