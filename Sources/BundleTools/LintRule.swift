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
  // Translations.
  case malformedStrings = "malformed-strings"
  case missingStrings = "missing-strings"
  case untranslatedTitle = "untranslated-title"
  case unusedTranslation = "unused-translation"
  case repeatedTranslation = "repeated-translation"

  /// What a rule looks at. The names are options of kvsync.
  package enum Group: String, CaseIterable, Sendable {
    case rows, panes, translations

    package var rules: [LintRule] { LintRule.allCases.filter { $0.group == self } }
  }

  package var group: Group {
    switch self {
    case .missing, .paneName, .paneCycle, .emptyPane, .applicationGroup, .unreferencedFile: .panes
    case .malformedStrings, .missingStrings, .untranslatedTitle, .unusedTranslation,
      .repeatedTranslation:
      .translations
    default: .rows
    }
  }

  /// The rules that apply unless others are asked for: not those of translations, since a table is
  /// often a template's, or made by a tool at release.
  package static let usual = Set(Group.rows.rules + Group.panes.rules)

  /// The rules of a word: `all`, `default`, a group or one rule; nil for any other word.
  package static func named(_ word: String) -> Set<LintRule>? {
    switch word {
    case "all": Set(allCases)
    case "default": usual
    default: Group(rawValue: word).map { Set($0.rules) } ?? LintRule(rawValue: word).map { [$0] }
    }
  }
}
