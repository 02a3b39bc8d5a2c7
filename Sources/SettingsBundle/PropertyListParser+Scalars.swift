// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension PropertyListParser {
  /// The value of an element other than `<array>`, `<dict>` and `<key>`.
  mutating func scalar(
    _ name: ElementName, at start: Int, isEmpty: Bool
  ) throws(Fault) -> PropertyListNode.Value {
    switch name {
    case .string: return .string(isEmpty ? "" : try string(name, at: start))
    case .true: return try boolean(true, name, at: start, isEmpty: isEmpty)
    case .false: return try boolean(false, name, at: start, isEmpty: isEmpty)
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

  private mutating func boolean(
    _ value: Bool, _ name: ElementName, at start: Int, isEmpty: Bool
  ) throws(Fault) -> PropertyListNode.Value {
    if isEmpty { return .boolean(value) }
    guard cursor.at("</") else {
      let fault = Fault(
        .invalidBoolean, at: cursor.index, "<\(name.text)> is not empty",
        cure: "write <\(name.text)/>")
      throw cursor.fault(fault, from: cursor.index, inside: "<\(name.text)>")
    }
    try closingTag(name, opened: start)
    return .boolean(value)
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
}

// MARK: - Numbers

extension PropertyListParser {
  /// `[+-]?([0-9]+|0[xX][0-9A-Fa-f]+)` from `Int64.min` to `UInt64.max`, with white space around
  /// it.
  private func integer(
    _ range: Range<Int>, at start: Int
  ) throws(Fault) -> PropertyListNode.Value {
    let text = trimmed(range)
    var digits = cursor.bytes[text]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    var radix: UInt64 = 10
    if digits.count > 2, digits.first == UInt8(ascii: "0"),
      digits[digits.startIndex + 1] | 0x20 == UInt8(ascii: "x")
    {
      radix = 16
      digits.removeFirst(2)
    }
    var magnitude: UInt64 = 0
    var overflows = digits.isEmpty
    for byte in digits {
      guard let digit = byte.hexDigit, digit < radix else { throw notAnInteger(start) }
      let product = magnitude.multipliedReportingOverflow(by: radix)
      let sum = product.partialValue.addingReportingOverflow(UInt64(digit))
      overflows = overflows || product.overflow || sum.overflow
      magnitude = sum.partialValue
    }
    guard !digits.isEmpty else { throw notAnInteger(start) }
    if !overflows, let number = Self.signed(magnitude, isNegative) { return .integer(number) }
    guard !overflows, !isNegative else {
      throw Fault(
        .integerOutOfRange, at: start, "this integer is outside \(Int64.min)…\(UInt64.max)",
        cure: "use a smaller one, a <real> or a <string>")
    }
    return .unsigned(magnitude)
  }

  private static func signed(_ magnitude: UInt64, _ isNegative: Bool) -> Int64? {
    guard isNegative else { return Int64(exactly: magnitude) }
    return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
  }

  private func notAnInteger(_ start: Int) -> Fault {
    Fault(
      .invalidInteger, at: start, "this is not an integer",
      cure: "write decimal digits, or 0x and hexadecimal ones")
  }

  /// `[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?`, or CoreFoundation's names of NaN and infinity,
  /// with white space around it. Underflow gives 0, overflow is an error.
  private func real(_ range: Range<Int>, at start: Int) throws(Fault) -> Double {
    let text = trimmed(range)
    guard isDecimal(text) else { return try special(text, at: start) }
    guard let number = Double(cursor.text(text)), number.isFinite else {
      throw Fault(
        .realOutOfRange, at: start, "this number is too large", cure: "write a smaller one, or inf")
    }
    return number
  }

  private func special(_ text: Range<Int>, at start: Int) throws(Fault) -> Double {
    switch text.count > 9 ? "" : cursor.text(text).lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default:
      throw Fault(
        .invalidReal, at: start, "this is not a number",
        cure: "write digits such as 1.5, or nan, inf, -inf")
    }
  }

  private func isDecimal(_ range: Range<Int>) -> Bool {
    var rest = cursor.bytes[range]
    func digits() -> Int {
      let count = rest.prefix { $0.isDigit }.count
      rest.removeFirst(count)
      return count
    }
    func sign() {
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    }
    sign()
    guard digits() > 0 else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      _ = digits()
    }
    if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      sign()
      guard digits() > 0 else { return false }
    }
    return rest.isEmpty
  }
}

// MARK: - Dates

extension PropertyListParser {
  /// `YYYY-MM-DDTHH:MM:SSZ` of the proleptic Gregorian calendar, years 1 to 9999.
  private func date(_ range: Range<Int>, at start: Int) throws(Fault) -> Date {
    let text = Array(cursor.bytes[range])
    guard text.count == 20, let year = number(text[0..<4]), text[4] == UInt8(ascii: "-"),
      let month = number(text[5..<7]), text[7] == UInt8(ascii: "-"),
      let day = number(text[8..<10]), text[10] == UInt8(ascii: "T"),
      let hour = number(text[11..<13]), text[13] == UInt8(ascii: ":"),
      let minute = number(text[14..<16]), text[16] == UInt8(ascii: ":"),
      let second = number(text[17..<19]), text[19] == UInt8(ascii: "Z")
    else { throw invalidDate("this is not a date", start) }
    guard year > 0, let days = CivilCalendar.days(year: year, month: month, day: day), hour < 24,
      minute < 60, second < 60
    else { throw invalidDate("this date does not exist", start) }
    let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    return Date(
      timeIntervalSinceReferenceDate: Double(seconds - CivilCalendar.secondsFrom1970To2001))
  }

  private func number(_ digits: ArraySlice<UInt8>) -> Int? {
    digits.allSatisfy { $0.isDigit } ? digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } : nil
  }

  private func invalidDate(_ what: String, _ start: Int) -> Fault {
    Fault(.invalidDate, at: start, what, cure: "write it as 2026-11-20T10:00:00Z, in UTC")
  }
}
