// SPDX-License-Identifier: Apache-2.0
//
// Types without an SQLite storage class are stored as text: exact, and readable in any tool.

extension UUID: BackingStoreConvertible {
  /// Reads upper and lower case.
  public static func fromBackingStore(_ value: StoredValue) throws -> UUID {
    guard let id = UUID(uuidString: try String.fromBackingStore(value)) else {
      throw ValueError(.invalid, "the stored string is not a UUID; set it again")
    }
    return id
  }

  /// As `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
  public func toBackingStore() -> StoredValue { .string(uuidString) }
}

// MARK: - Decimal

extension Decimal: BackingStoreConvertible {
  /// Reads a string, an integer, or a real, which is read as its shortest decimal text.
  ///
  /// - Throws: `ValueError` when a `Decimal` cannot represent the number exactly.
  public static func fromBackingStore(_ value: StoredValue) throws -> Decimal {
    if case .string("NaN") = value { return .nan }
    guard let number = try DecimalText(stored: value) else {
      throw ValueError(
        .invalid,
        value.kind == .real
          ? "the stored real is no number; store it as a string"
          : "the stored string is not a number; write one such as 12.50")
    }
    return try exact(number)
  }

  /// All digits without an exponent, such as `-12.5`.
  public func toBackingStore() throws -> StoredValue {
    guard !isNaN else { return "NaN" }
    guard let number = DecimalText(description), try Self.exact(number) == self else {
      throw ValueError(.invalid, "this Decimal has no exact text; round it first")
    }
    return .string(number.text)
  }

  private static func exact(_ number: DecimalText) throws -> Decimal {
    // Foundation rounds a number with too many digits; comparing the result detects that.
    guard number.digits.count <= 39, abs(number.exponent) < 200,
      let decimal = Decimal(string: number.text),
      DecimalText(decimal.description) == number
    else {
      throw ValueError(.invalid, "the stored number does not fit Decimal; use String")
    }
    return decimal
  }
}

// MARK: - Duration

extension Duration: BackingStoreConvertible {
  /// Reads seconds as text or as a number. A real is read as its shortest decimal text.
  public static func fromBackingStore(_ value: StoredValue) throws -> Duration {
    guard let number = try DecimalText(stored: value) else {
      throw ValueError(
        .invalid, "the stored value is not a number of seconds; write one such as 1.5")
    }
    guard let attoseconds = number.attoseconds else {
      throw ValueError(.invalid, "the stored number of seconds does not fit Duration; set it again")
    }
    return Duration(attoseconds: attoseconds)
  }

  /// The exact seconds, such as `90` or `0.25`.
  public func toBackingStore() -> StoredValue {
    .string(DecimalText(attoseconds, exponent: -18).text)
  }
}

extension DecimalText {
  /// The attoseconds of this number of seconds; nil when they overflow or have a fraction.
  fileprivate var attoseconds: Int128? {
    guard (-18...21).contains(exponent) else { return nil }
    let shifted = DecimalText(isNegative: isNegative, digits: digits, exponent: exponent + 18)
    return Int128(shifted.text)
  }
}

/// An exact decimal number of any size.
///
/// `Decimal(string:)` is no replacement: it reads a prefix of other text, and rounds long numbers.
/// A number has one representation: no leading and trailing zeros, and zero without a sign.
struct DecimalText: Equatable {
  let isNegative: Bool
  /// Values 0 to 9, not characters.
  let digits: [UInt8]
  /// The number is `digits` times ten to this power.
  let exponent: Int

  init(isNegative: Bool, digits: [UInt8], exponent: Int) {
    let whole = digits.drop { $0 == 0 }
    let zeros = whole.reversed().prefix { $0 == 0 }.count
    self.digits = Array(whole.dropLast(zeros))
    self.isNegative = isNegative && !whole.isEmpty
    self.exponent = whole.isEmpty ? 0 : exponent + zeros
  }

  init(_ number: some BinaryInteger, exponent: Int = 0) {
    self.init(
      isNegative: number < 0,
      digits: String(number.magnitude).utf8.map { $0 - UInt8(ascii: "0") }, exponent: exponent)
  }

  /// The number of a string, an integer or a real; nil for other text, and for NaN and infinity.
  ///
  /// - Throws: `ValueError` for a value of another type.
  init?(stored value: StoredValue) throws(ValueError) {
    switch value {
    case .string(let text): self.init(text)
    case .integer(let number): self.init(number)
    case .real(let number): self.init(number.description)
    default: throw ValueError.mismatch(value, wanted: "string")
    }
  }

  /// Reads `-12`, `0.25` or `1.5e-7`; nil for other text.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    func digits() -> [UInt8] {
      let found = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest.dropFirst(found.count)
      return found.map { $0 - UInt8(ascii: "0") }
    }
    func accept(_ characters: String) -> Bool {
      guard let next = rest.first, characters.utf8.contains(next) else { return false }
      rest = rest.dropFirst()
      return true
    }
    let isNegative = accept("-")
    let whole = digits()
    let hasPoint = accept(".")
    let fraction = hasPoint ? digits() : []
    guard !whole.isEmpty, hasPoint == !fraction.isEmpty else { return nil }
    var power = 0
    if accept("eE") {
      let isSmall = accept("-")
      if !isSmall { _ = accept("+") }
      let places = digits()
      guard (1...6).contains(places.count) else { return nil }
      power = places.reduce(0) { $0 * 10 + Int($1) } * (isSmall ? -1 : 1)
    }
    guard rest.isEmpty else { return nil }
    self.init(
      isNegative: isNegative, digits: whole + fraction, exponent: power - fraction.count)
  }

  /// All digits, without an exponent.
  var text: String {
    let zeros = [UInt8](repeating: 0, count: max(exponent, 0))
    let point = max(-exponent, 0)
    let missing = [UInt8](repeating: 0, count: max(point + 1 - digits.count, 0))
    let all = (missing + digits + zeros).map { $0 + UInt8(ascii: "0") }
    let whole = String(decoding: all.dropLast(point), as: UTF8.self)
    let fraction = String(decoding: all.suffix(point), as: UTF8.self)
    return (isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }
}
