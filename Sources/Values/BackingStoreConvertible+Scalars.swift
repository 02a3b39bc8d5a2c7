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
  /// Reads a string, an integer, or a real. The real nearest to 0.1 is not 0.1, but has 55 digits.
  ///
  /// - Throws: `ValueError` when a `Decimal` cannot represent the number exactly.
  public static func fromBackingStore(_ value: StoredValue) throws -> Decimal {
    switch value {
    case .string("NaN"): return .nan
    case .string(let text):
      guard let number = DecimalText(text) else {
        throw ValueError(.invalid, "the stored string is not a number; write one such as 12.50")
      }
      return try exact(number)
    case .integer(let number): return try exact(DecimalText(number))
    case .real(let number):
      guard let exactly = DecimalText(exactly: number) else {
        throw ValueError(.invalid, "the stored real is not exactly a Decimal; store it as a string")
      }
      return try exact(exactly)
    default: throw ValueError.mismatch(value, wanted: "string")
    }
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

extension DecimalText {
  /// The exact value of a real; nil when it needs more digits than a `Decimal` has.
  fileprivate init?(exactly number: Double) {
    guard number.isFinite else { return nil }
    guard number != 0 else {
      self.init(0)
      return
    }
    // number = digits × 2^power; for a negative power that is digits × 5^-power × 10^power.
    let bits = number.significandBitPattern | (number.isNormal ? 1 << 52 : 0)
    let zeros = bits.trailingZeroBitCount
    let power = Int(number.exponentBitPattern) - (number.isNormal ? 1075 : 1074) + zeros
    var digits = UInt128(bits >> zeros)
    for _ in 0..<min(abs(power), 128) {
      let (next, overflow) = digits.multipliedReportingOverflow(by: power < 0 ? 5 : 2)
      guard !overflow else { return nil }
      digits = next
    }
    self.init(digits, exponent: min(power, 0), isNegative: number < 0)
  }
}

// MARK: - Duration

extension Duration: BackingStoreConvertible {
  /// Reads seconds as text or as a number. A real stands for its shortest decimal text.
  public static func fromBackingStore(_ value: StoredValue) throws -> Duration {
    let number: DecimalText?
    switch value {
    case .string(let text): number = DecimalText(text)
    case .integer(let seconds): number = DecimalText(seconds)
    case .real(let seconds): number = DecimalText(seconds.description)
    default: throw ValueError.mismatch(value, wanted: "string")
    }
    guard let number else {
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
    guard (-18...21).contains(exponent), digits.count <= 39 else { return nil }
    var number: Int128 = 0
    for digit in digits + [UInt8](repeating: 0, count: exponent + 18) {
      let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
      let (next, carry) = tens.addingReportingOverflow(Int128(digit) * (isNegative ? -1 : 1))
      guard !overflow, !carry else { return nil }
      number = next
    }
    return number
  }
}
