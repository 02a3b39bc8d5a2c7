// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension SettingsBundle {
  /// An error or a warning at a place in a bundle.
  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package enum Severity: String, Sendable {
      /// Strict reading succeeds, but the Settings app may not show what the author meant.
      case warning
      /// Strict reading throws.
      case error
    }

    package let severity: Severity
    /// The rule's name, such as `unknown-key`.
    package let rule: String
    /// The path of the file in the bundle, such as `Root.plist`.
    package let file: String
    /// Nil in a binary property list, and of a file that could not be read.
    package let position: SourcePosition?
    /// Nil at the root of a file, and outside it.
    package let keyPath: String?
    /// The problem and the fix.
    package let message: String
    /// The place, for sorting.
    let offset: Int

    /// `file:line:column`, in a binary property list `file:key path`.
    package var place: String { PropertyListError.place(file, position, keyPath) }

    /// `file:line:column: severity: message [rule]`
    package var description: String { "\(place): \(severity.rawValue): \(message) [\(rule)]" }
  }
}

extension PropertyListError.Code {
  /// The name of the rule that a fault with this code breaks.
  var rule: String {
    rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
  }
}

extension SettingsBundle.Finding {
  init(_ warning: SettingsBundle.Warning, _ severity: Severity) {
    self.init(
      severity: severity, rule: warning.code.rule, file: warning.file, position: warning.position,
      keyPath: warning.keyPath, message: warning.message,
      offset: warning.offset)
  }

  /// Whether these rules ask for it. No rule can be set aside that strict reading enforces.
  func isWanted(by rules: Set<LintRule>) -> Bool {
    severity == .error || LintRule(rawValue: rule).map(rules.contains) ?? true
  }
}

/// The rules of lint, beyond what strict reading refuses: that is always an error, under a name
/// that derives from the error's code. The raw values are part of kvsync's output format.
package enum LintRule: String, CaseIterable, Sendable {
  case unknownType = "unknown-type"
  case unknownKey = "unknown-key"
  case emptyKey = "empty-key"
  case repeatedKey = "repeated-key"
  case missing
  case unreferencedFile = "unreferenced-file"
}
