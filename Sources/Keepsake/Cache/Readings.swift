// SPDX-License-Identifier: Apache-2.0
//
// A launch argument is text, and a provider does not declare its values' types: a setting reads
// them as its own type where they can be converted.

package import KeepsakeValues

/// A value in force, and its readings as other types.
package struct Readings: Sendable, Equatable {
  /// The value for reads by key.
  package let value: StoredValue
  /// In the order in which they are tried.
  package var others: [StoredValue] = []
  /// The position of the launch argument; nil for a value of another layer.
  var argument: Int?
  /// The provider of the value; nil for a value of another layer.
  var provider: SettingExplanation.Provider?
  /// Whether a given layer has a secret for the key, in force or not.
  package var isSecret = false

  init(_ value: StoredValue) { self.value = value }

  /// Decodes the first of the other readings that `decode` accepts.
  ///
  /// - Parameter refusal: the error of `decode` for the value itself.
  /// - Throws: `refusal`, or the last error that is no type mismatch.
  func read<Value>(
    after refusal: any Error, _ decode: (StoredValue) throws -> Value
  ) throws -> Value {
    var refusal = refusal
    for reading in others {
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

  /// The error to report: a secret's is replaced, because a transformer's error may contain the
  /// value.
  func told(_ error: any Error) -> any Error {
    guard provider?.isSecret == true else { return error }
    return ValueError(
      (error as? ValueError)?.code ?? .invalid,
      "the setting cannot read it, and it is a secret, so that nothing more is said")
  }
}

extension Readings {
  init(_ argument: LaunchArguments.Argument) {
    self.init(argument.value)
    self.argument = argument.position
    others = argument.isText ? value.otherReadings : []
  }

  init?(_ provided: ProvidedValue) {
    guard let first = provided.readings.first else { return nil }
    self.init(first)
    provider = provided.source
    // The provider's readings already include text as a number or a flag.
    others = provided.readings.dropFirst() + [first.dateReading].compactMap { $0 }
  }
}

extension StoredValue {
  /// The readings of a whole text as other types.
  fileprivate var otherReadings: [StoredValue] {
    guard case .string(let text) = self else { return [] }
    let real = text.isDecimal ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    return [
      Int64(text).map(StoredValue.integer), real.map(StoredValue.real),
      text.flag.map(StoredValue.boolean), dateReading,
    ].compactMap { $0 }
  }

  fileprivate var dateReading: StoredValue? {
    guard case .string(let text) = self else { return nil }
    return ISO8601.secondsSince2001(text).map {
      .date(Date(timeIntervalSinceReferenceDate: $0))
    }
  }
}

extension String {
  /// Whether all of it is a decimal number, such as `-5`, `.5` or `1e3`.
  var isDecimal: Bool {
    wholeMatch(of: /[+\-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?/) != nil
  }

  fileprivate var flag: Bool? {
    switch lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }
}
