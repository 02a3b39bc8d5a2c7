// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension SettingsBundle {
  /// Something that lint has to say about a place in a bundle.
  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package enum Severity: String, Sendable {
      /// Nothing is refused, but somebody will see less or other than was meant.
      case warning
      /// Reading the bundle strictly refuses it.
      case error
    }

    package let severity: Severity
    /// The name of the rule, such as `unknown-key`.
    package let rule: String
    /// The path of the file in the bundle, such as `Root.plist`.
    package let file: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1, in Unicode scalars.
    package let column: Int
    /// What is wrong and what to do.
    package let message: String

    /// `file:line:column: severity: message [rule]`
    package var description: String {
      "\(file):\(line):\(column): \(severity.rawValue): \(message) [\(rule)]"
    }
  }
}

/// What lint warns of besides the faults that strict reading refuses; those have the names of their
/// codes. The raw values are a contract.
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
  /// The name of the rule that a fault of this kind breaks.
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
