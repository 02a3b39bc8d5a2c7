// SPDX-License-Identifier: Apache-2.0

/// An exact decimal number of any size.
///
/// `Decimal(string:)` is no replacement: it reads a prefix of other text, and rounds long numbers.
/// Equal numbers are equal: there are no leading and trailing zeros, and zero has no sign.
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

  init(_ number: some BinaryInteger, exponent: Int = 0, isNegative: Bool = false) {
    self.init(
      isNegative: isNegative || number < 0,
      digits: String(number.magnitude).utf8.map { $0 - UInt8(ascii: "0") }, exponent: exponent)
  }

  /// Reads `-12`, `0.25` or `1.5e-7`; nil for everything else.
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
