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
    /// From 1.
    package let line: Int
    /// From 1, in Unicode scalars.
    package let column: Int
    /// The problem and the fix.
    package let message: String

    /// `file:line:column: severity: message [rule]`
    package var description: String {
      "\(file):\(line):\(column): \(severity.rawValue): \(message) [\(rule)]"
    }
  }
}

/// The rules beyond those of strict reading, whose names derive from the error codes. The raw
/// values are part of kvsync's output format.
enum LintRule: String, CaseIterable {
  // Rows.
  case unknownType = "unknown-type"
  case unknownKey = "unknown-key"
  case unknownValue = "unknown-value"
  case emptyTitle = "empty-title"
  case shortTitles = "short-titles"
  case repeatedKey = "repeated-key"
  case repeatedValue = "repeated-value"
  case unstorableValue = "unstorable-value"
  case repeatedTitle = "repeated-title"
  case mixedTypes = "mixed-types"
  case sliderRange = "slider-range"
  case secureDefault = "secure-default"
  // Panes.
  case paneName = "pane-name"
  case paneCycle = "pane-cycle"
  case emptyPane = "empty-pane"
  case applicationGroup = "application-group"
  case unreferencedFile = "unreferenced-file"
  // Translations.
  case missingStrings = "missing-strings"
  case untranslatedTitle = "untranslated-title"
  case unusedTranslation = "unused-translation"
  case repeatedTranslation = "repeated-translation"
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
      severity: severity, rule: warning.code.rule, file: warning.file,
      line: warning.line, column: warning.column, message: warning.message)
  }
}
