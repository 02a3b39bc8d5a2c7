// SPDX-License-Identifier: Apache-2.0
//
// Dates as text in UTC with milliseconds, by exact integer arithmetic: every platform must print a
// timestamp in the same way, and Foundation's formatters round in binary.

/// A date of the proleptic Gregorian calendar.
private struct CivilDate {
  let year, month, day: Int64
}

/// The algorithms are Howard Hinnant's, https://howardhinnant.github.io/date_algorithms.html
extension CivilDate {
  init(daysSince1970 days: Int64) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    month = shifted < 10 ? shifted + 3 : shifted - 9
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Nil if the date does not exist.
  var daysSince1970: Int64? {
    guard (1...12).contains(month), (1...lengthOfMonth).contains(day) else { return nil }
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private var lengthOfMonth: Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

package enum ISO8601 {
  private static let millisecondsFrom1970To2001: Int64 = 978_307_200_000

  /// `2026-11-20T10:00:00.123Z`, or nil outside the years 1 to 9999.
  package static func text(milliseconds: Int64) -> String? {
    let day: Int64 = 86_400_000
    // Rounded down, also before 1970.
    let days = milliseconds >= 0 ? milliseconds / day : (milliseconds + 1) / day - 1
    let date = CivilDate(daysSince1970: days)
    guard (1...9999).contains(date.year) else { return nil }
    let (second, fraction) = (milliseconds &- days &* day).quotientAndRemainder(dividingBy: 1000)
    // One allocation: an export writes a million of them.
    return String(unsafeUninitializedCapacity: 24) { text in
      var place = 0
      func put(_ number: Int64, _ width: Int, _ end: Unicode.Scalar) {
        var rest = number
        for digit in stride(from: place + width - 1, through: place, by: -1) {
          text[digit] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        text[place + width] = UInt8(ascii: end)
        place += width + 1
      }
      put(date.year, 4, "-")
      put(date.month, 2, "-")
      put(date.day, 2, "T")
      put(second / 3600, 2, ":")
      put(second / 60 % 60, 2, ":")
      put(second % 60, 2, ".")
      put(fraction, 3, "Z")
      return place
    }
  }

  /// The text of a date in seconds since 2001, rounded to the nearest millisecond.
  package static func text(secondsSince2001 seconds: Double) -> String? {
    guard abs(seconds) < 1e12 else { return nil }
    let milliseconds = Int64((seconds * 1000).rounded())
    return text(milliseconds: milliseconds + millisecondsFrom1970To2001)
  }

  /// Milliseconds since 1970 of `YYYY-MM-DDTHH:MM[:SS[.fff]](Z|±HH:MM)`, or of `YYYY-MM-DD`
  /// (midnight, UTC). Nil for other text and for dates that do not exist. Truncates a fraction to
  /// three digits.
  package static func milliseconds(_ text: String) -> Int64? {
    var reader = DateTextReader(rest: text.utf8[...])
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
      reader.take("-"), let day = reader.number(2),
      let days = CivilDate(year: year, month: month, day: day).daysSince1970
    else { return nil }
    if reader.isAtEnd { return days * 86_400_000 }
    guard reader.take("T") || reader.take(" "), let hour = reader.number(2), hour < 24,
      reader.take(":"), let minute = reader.number(2), minute < 60
    else { return nil }
    var milliseconds: Int64 = 0
    if reader.take(":") {
      guard let second = reader.number(2), second < 60 else { return nil }
      milliseconds = second * 1000
      if reader.take(".") {
        guard let fraction = reader.fraction() else { return nil }
        milliseconds += fraction
      }
    }
    guard let offset = reader.offset(), reader.isAtEnd else { return nil }
    return days * 86_400_000 + (hour * 60 + minute - offset) * 60_000 + milliseconds
  }

  /// Reads what `milliseconds(_:)` reads, as seconds since 2001.
  package static func secondsSince2001(_ text: String) -> Double? {
    milliseconds(text).map { Double($0 - millisecondsFrom1970To2001) / 1000 }
  }
}

private struct DateTextReader {
  var rest: Substring.UTF8View.SubSequence

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Character) -> Bool {
    guard rest.first == character.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ digits: Int) -> Int64? {
    let head = rest.prefix(digits)
    guard head.count == digits, head.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    rest.removeFirst(digits)
    return head.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// The milliseconds of a fraction of a second, which has one digit or more.
  mutating func fraction() -> Int64? {
    guard let tenths = number(1) else { return nil }
    let (hundredths, thousandths) = (number(1), number(1))
    while number(1) != nil {}
    return tenths * 100 + (hundredths ?? 0) * 10 + (thousandths ?? 0)
  }

  /// Minutes east of UTC.
  mutating func offset() -> Int64? {
    if take("Z") { return 0 }
    let sign: Int64 = take("+") ? 1 : take("-") ? -1 : 0
    guard sign != 0, let hours = number(2), hours < 24 else { return nil }
    _ = take(":")
    guard let minutes = number(2), minutes < 60 else { return nil }
    return sign * (hours * 60 + minutes)
  }
}
