// SPDX-License-Identifier: Apache-2.0
//
// Converts values to other types, for `string(forKey:)` and similar methods, by the rules of
// Foundation's `UserDefaults`
// (https://developer.apple.com/documentation/foundation/userdefaults/bool(forkey:) and its
// neighbours), which converts text by `NSString.boolValue`, `integerValue` and `doubleValue`.
//
// All of these parse the number at the start of a text: they skip white space, then parse a sign,
// then digits, and ignore the rest.
//
// A typed `Setting` does not coerce.

import KeepsakeValues

extension StoredValue {
  /// Text as it is, a number in its shortest decimal form, a boolean as "1" or "0"; else nil.
  // Inlining saves a copy of the value.
  @inline(__always)
  var stringValue: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .real(let number): Self.text(number)
    case .boolean(let flag): flag ? "1" : "0"
    case .date, .data, .array, .dictionary, .opaque: nil
    }
  }

  /// The integer part of a number, or the integer at the start of a text; else 0. The nearest
  /// `Int64` for a number that is out of range.
  var integerValue: Int64 {
    switch self {
    case .string(let text): NumberText(text).integer
    case .integer(let number): number
    case .real(let number): Self.whole(number)
    case .boolean(let flag): flag ? 1 : 0
    case .date, .data, .array, .dictionary, .opaque: 0
    }
  }

  /// A number, or the decimal number at the start of a text; else 0.
  var doubleValue: Double {
    switch self {
    case .string(let text): NumberText(text).real
    case .integer(let number): Double(number)
    case .real(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .date, .data, .array, .dictionary, .opaque: 0
    }
  }

  /// Whether a number is not 0, or text begins like "YES", "true" or a number that is not 0; else
  /// false.
  var boolValue: Bool {
    switch self {
    case .string(let text): NumberText(text).boolean
    case .integer(let number): number != 0
    case .real(let number): number != 0
    case .boolean(let flag): flag
    case .date, .data, .array, .dictionary, .opaque: false
    }
  }

  /// The URL of a text with a scheme, or the file URL of another text; else nil.
  var urlValue: URL? {
    guard case .string(let text) = self else { return nil }
    return URL(withScheme: text) ?? URL(pathOrHomePath: text)
  }

  /// Swift writes 100 as "100.0", `NSNumber.stringValue` as "100".
  private static func text(_ number: Double) -> String {
    let text = "\(number == 0 ? 0 : number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func whole(_ number: Double) -> Int64 {
    guard !number.isNaN else { return 0 }
    return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }
}

/// Parses the number at the start of a text.
private struct NumberText {
  private typealias Scalars = Substring.UnicodeScalarView

  private let sign: String
  /// The text after the sign.
  private let rest: Scalars

  init(_ text: String) {
    var rest = text[...].unicodeScalars
    Self.take(from: &rest) { $0.properties.isWhitespace }
    sign = Self.takeFirst(of: "+-", from: &rest)
    self.rest = rest
  }

  var integer: Int64 {
    var rest = rest
    let digits = Self.takeDigits(from: &rest)
    guard !digits.isEmpty else { return 0 }
    return Int64(sign + digits) ?? (sign == "-" ? .min : .max)
  }

  var real: Double {
    var rest = rest
    let whole = Self.takeDigits(from: &rest)
    let fraction = Self.takeFirst(of: ".", from: &rest).isEmpty ? "" : Self.takeDigits(from: &rest)
    guard !whole.isEmpty || !fraction.isEmpty else { return 0 }
    return Double("\(sign)0\(whole).\(fraction)0\(Self.takeExponent(from: &rest))") ?? 0
  }

  var boolean: Bool {
    var rest = rest
    Self.take(from: &rest) { $0 == "0" }
    return !Self.takeFirst(of: "YyTt123456789", from: &rest).isEmpty
  }

  /// An "e" that no digits follow is not part of the number.
  private static func takeExponent(from rest: inout Scalars) -> String {
    guard !takeFirst(of: "eE", from: &rest).isEmpty else { return "" }
    let sign = takeFirst(of: "+-", from: &rest)
    let digits = takeDigits(from: &rest)
    return digits.isEmpty ? "" : "e\(sign)\(digits)"
  }

  private static func takeDigits(from rest: inout Scalars) -> String {
    take(from: &rest) { ("0"..."9").contains($0) }
  }

  /// The next character if it is one of these; else an empty text.
  private static func takeFirst(of choice: String, from rest: inout Scalars) -> String {
    guard let next = rest.first, choice.unicodeScalars.contains(next) else { return "" }
    rest.removeFirst()
    return String(next)
  }

  @discardableResult
  private static func take(
    from rest: inout Scalars, while isWanted: (Unicode.Scalar) -> Bool
  ) -> String {
    let taken = rest.prefix(while: isWanted)
    rest = rest[taken.endIndex...]
    return String(taken)
  }
}
