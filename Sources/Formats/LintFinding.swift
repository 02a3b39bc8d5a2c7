// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension SettingsBundle {
  /// An error or a warning at a place in a bundle.
  package struct Finding: Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable {
      /// Strict reading succeeds, but the Settings app may not show what the author meant.
      case warning
      /// Strict reading throws.
      case error
    }

    package let severity: Severity
    /// Its file is the path in the bundle, such as `Root.plist`.
    package let problem: PropertyListError

    /// The rule's name, such as `unknown-key`; part of kvsync's output format.
    package var rule: String { problem.code.rule }

    /// `file:line:column: severity: message [rule]`, in a binary property list `file:key path: …`.
    package var description: String {
      "\(problem.place): \(severity.rawValue): \(problem.message) [\(rule)]"
    }
  }

  /// The rules whose warnings can be left out. What strict reading refuses is always an error.
  package static let lintRules = [
    PropertyListError.Code.unknownType, .unknownKey, .emptyKey, .missing,
  ].map(\.rule)
}

extension PropertyListError.Code {
  /// The name of the rule that a fault with this code breaks.
  fileprivate var rule: String {
    rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
  }
}
