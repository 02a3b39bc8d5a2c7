// SPDX-License-Identifier: Apache-2.0
//
// A launch argument is text, and a provider does not declare its values' types: a setting reads
// them as its own type if they can be converted.

package import KeepsakeValues

/// A value in force, and its readings as other types.
package struct ValueInForce: Sendable, Equatable {
  /// The value for reads by key.
  package let value: StoredValue
  /// In the order in which a setting tries them; empty if the layer declares the value's type.
  package var otherReadings: [StoredValue] = []
  /// The position of the launch argument; nil for a value of another layer.
  var argument: Int?
  /// The provider of the value; nil for a value of another layer.
  var provider: SettingExplanation.Provider?
  /// Whether a provider has a secret for the key, in force or not.
  package var isSecret = false

  init(_ value: StoredValue) { self.value = value }

  /// A launch argument.
  ///
  /// - Parameters:
  ///   - position: the index of the key among the arguments; the program's name has 0.
  ///   - json: the value of a text that is JSON.
  init(argument text: String, at position: Int, json: StoredValue?) {
    self.init(json ?? .string(text))
    argument = position
    if json == nil { otherReadings = text.readings }
  }

  /// A provider's value.
  ///
  /// - Throws: `KeepsakeError` for the device at `path` if the provider's value cannot be read.
  init(_ provided: ProvidedValue, path: String) throws(KeepsakeError) {
    let source = provided.source
    guard let first = provided.readings.first else {
      throw KeepsakeError(
        .invalidValue, path: path, "\(source) cannot be read: \(source.problem ?? "")",
        cure: "change the value there")
    }
    self.init(first)
    provider = source
    // The provider's readings already include text as a number or a Boolean.
    otherReadings = Array(provided.readings.dropFirst())
    if case .string(let text) = first, let date = text.date { otherReadings.append(date) }
  }

  /// Decodes the first of the other readings that `decode` accepts.
  ///
  /// - Parameter refusal: the error of `decode` for the value itself.
  /// - Throws: `refusal`, or the last error that is no type mismatch.
  func decodeOtherReading<Value>(
    after refusal: any Error, _ decode: (StoredValue) throws -> Value
  ) throws -> Value {
    var refusal = refusal
    for reading in otherReadings {
      do {
        return try decode(reading)
      } catch let error as ValueError where error.code == .typeMismatch {
        continue
      } catch {
        refusal = error
      }
    }
    throw refusal
  }

  /// The error to report. A transformer's error may contain the value, so that of a secret is
  /// replaced.
  func redacted(_ error: any Error) -> any Error {
    guard provider?.isSecret == true else { return error }
    return ValueError(
      (error as? ValueError)?.code ?? .invalid,
      "the setting cannot read it; the details are not shown, because it is a secret")
  }
}

extension String {
  /// The whole text as an integer, a real, a Boolean and a date.
  fileprivate var readings: [StoredValue] {
    let real = isDecimal ? Double(self).flatMap { $0.isFinite ? $0 : nil } : nil
    return [
      Int64(self).map(StoredValue.integer), real.map(StoredValue.real),
      boolean.map(StoredValue.boolean), date,
    ].compactMap { $0 }
  }

  fileprivate var date: StoredValue? {
    ISO8601.secondsSince2001(self).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
  }

  /// Whether all of it is a decimal number, such as `-5`, `.5` or `1e3`.
  var isDecimal: Bool {
    wholeMatch(of: /[+\-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?/) != nil
  }

  private var boolean: Bool? {
    switch lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }
}
