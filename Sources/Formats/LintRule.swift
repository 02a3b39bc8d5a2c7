// SPDX-License-Identifier: Apache-2.0

/// The rules of lint, beyond what strict reading refuses: that is always an error, under a name
/// that derives from the error's code. The raw values are part of kvsync's output format.
package enum LintRule: String, CaseIterable, Sendable {
  // Rows.
  case unknownType = "unknown-type"
  case unknownKey = "unknown-key"
  case unknownValue = "unknown-value"
  case emptyKey = "empty-key"
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
  case missing
  case paneName = "pane-name"
  case paneCycle = "pane-cycle"
  case emptyPane = "empty-pane"
  case applicationGroup = "application-group"
  case unreferencedFile = "unreferenced-file"

  /// What a rule looks at. The names are options of kvsync.
  package enum Group: String, CaseIterable, Sendable {
    case rows, panes

    package var rules: [LintRule] { LintRule.allCases.filter { $0.group == self } }
  }

  package var group: Group {
    switch self {
    case .missing, .paneName, .paneCycle, .emptyPane, .applicationGroup, .unreferencedFile: .panes
    default: .rows
    }
  }

  /// The rules of a word: a group or one rule; nil for any other word.
  package static func named(_ word: String) -> Set<LintRule>? {
    Group(rawValue: word).map { Set($0.rules) } ?? LintRule(rawValue: word).map { [$0] }
  }
}
