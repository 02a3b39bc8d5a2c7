// SPDX-License-Identifier: Apache-2.0
//
// Parses values on the command line.

import ArgumentParser
import Foundation
import KeepsakeFormats
package import KeepsakeValues

package enum ArgumentValue {
  /// A duration as `[0-9]+(ms|s|m|h|d)`.
  package static func duration(_ text: String) throws -> Duration {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let units: [Substring: Int64] = [
      "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
    guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count)] else {
      throw ValidationError("not a duration; write a number and ms, s, m, h or d, as in 90s")
    }
    let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow, milliseconds <= HybridTimestamp.maximumMilliseconds else {
      throw ValidationError("this duration is out of range; use a shorter one")
    }
    return .milliseconds(milliseconds)
  }

  /// Parses ISO 8601, or an integer, as milliseconds since 1970.
  package static func milliseconds(_ text: String) throws -> Int64 {
    guard let milliseconds = Int64(text) ?? ISO8601.milliseconds(text) else {
      throw ValidationError(
        "not a time; write 2026-11-20T10:00:00Z, or milliseconds since 1970")
    }
    guard (0...HybridTimestamp.maximumMilliseconds).contains(milliseconds) else {
      throw ValidationError("this time is out of range; use one from 1970 to 6429")
    }
    return milliseconds
  }

  /// The types that `--type` accepts.
  package enum ValueType: String, CaseIterable, ExpressibleByArgument {
    case string, integer, real, boolean, date, data, json
  }

  /// The `--type` of a kind of value; nil if there is none.
  package static func type(of kind: StoredValue.Kind) -> ValueType? {
    switch kind {
    case .array, .dictionary: .json
    default: ValueType(rawValue: kind.rawValue)
    }
  }

  package static func kind(_ kind: StoredValue.Kind) -> String {
    switch kind {
    case .array, .integer: "an \(kind)"
    case .opaque: "a value of a newer version"
    default: "a \(kind)"
    }
  }

  package static func value(_ text: String, _ type: ValueType) throws -> StoredValue {
    guard let value = try parsed(text, type) else {
      throw InputError.usage(
        "the value is not of type \(type.rawValue); \(cure(type))")
    }
    return value
  }

  private static func parsed(_ text: String, _ type: ValueType) throws -> StoredValue? {
    switch type {
    case .string: return .string(text)
    case .integer: return Int64(text).map(StoredValue.integer)
    case .real: return real(text).map(StoredValue.real)
    case .boolean: return boolean(text).map(StoredValue.boolean)
    case .data: return Data(base64Text: text).map(StoredValue.data)
    case .date:
      return ISO8601.secondsSince2001(text).map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case .json:
      do {
        let value = try JSON(parsing: text).storedValue()
        _ = try TaggedCell(value)  // Throws for what nests too deep to be stored.
        return value
      } catch let error as JSONError {
        throw InputError.usage("the value is not JSON: column \(error.column): \(error); fix it")
      } catch let error as ValueError {
        throw InputError.usage("the JSON cannot be stored: \(error)")
      }
    }
  }

  private static func real(_ text: String) -> Double? {
    switch text {
    case "nan": .nan
    case "inf": .infinity
    case "-inf": -.infinity
    default: Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
  }

  private static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: nil
    }
  }

  private static func cure(_ type: ValueType) -> String {
    switch type {
    case .string: "any text is"
    case .integer: "write digits, from \(Int64.min) to \(Int64.max)"
    case .real: "write a number, or nan, inf, -inf"
    case .boolean: "write true, false, yes, no, 1 or 0"
    case .date: "write it as 2026-11-20T10:00:00.000Z"
    case .data: "write base64"
    case .json: "write one JSON value"
    }
  }
}
