// SPDX-License-Identifier: Apache-2.0
//
// The keys of the schema, and the values of optional ones. The source is Apple's "Settings
// Application Schema Reference" (https://developer.apple.com/library/archive/documentation/
// PreferenceSettings/Conceptual/SettingsApplicationSchemaReference/).

import KeepsakeSettingsBundle

enum LintSchema {
  /// The keys of a pane. `Title` is in Xcode's template, but not in the reference.
  static let paneKeys: Set = [
    "PreferenceSpecifiers", "StringsTable", "ApplicationGroupContainerIdentifier", "Title",
  ]

  /// The keys of a specifier; nil for a type outside the schema.
  static func keys(of kind: SettingsSpecifier.Kind) -> Set<String>? {
    let common: Set = ["Type", "Title", "SupportedUserInterfaceIdioms"]
    let keyed = common.union(["Key", "DefaultValue"])
    let choices = keyed.union(["Values", "Titles"])
    return switch kind {
    case .group: common.union(["FooterText"])
    case .textField:
      keyed.union([
        "IsSecure", "KeyboardType", "AutocapitalizationType", "AutocorrectionType",
      ])
    case .titleValue: choices
    case .toggleSwitch: keyed.union(["TrueValue", "FalseValue"])
    // The reference has no title for a slider, but every template has.
    case .slider:
      keyed.union(["MinimumValue", "MaximumValue", "MinimumValueImage", "MaximumValueImage"])
    case .multiValue: choices.union(["ShortTitles", "DisplaySortedByTitle"])
    case .radioGroup: choices.union(["FooterText", "DisplaySortedByTitle"])
    case .childPane: common.union(["File"])
    case .other, .malformed: nil
    }
  }

  /// The values that an optional key may have.
  enum Expectation {
    case string, boolean
    case word([String])
    /// An array of these words.
    case words([String])
  }

  static let optional: [(key: String, expected: Expectation)] = [
    ("FooterText", .string), ("MinimumValueImage", .string), ("MaximumValueImage", .string),
    ("IsSecure", .boolean), ("DisplaySortedByTitle", .boolean),
    (
      "KeyboardType",
      .word(["Alphabet", "NumbersAndPunctuation", "NumberPad", "URL", "EmailAddress"])
    ),
    ("AutocapitalizationType", .word(["None", "Sentences", "Words", "AllCharacters"])),
    ("AutocorrectionType", .word(["Default", "No", "Yes"])),
    ("SupportedUserInterfaceIdioms", .words(["Phone", "Pad", "Mac", "TV"])),
  ]
}

extension LintSchema.Expectation {
  func holds(for node: PropertyListNode) -> Bool {
    switch self {
    case .string: node.string != nil
    case .boolean: node.boolean != nil
    case .word(let words): node.isOne(of: words)
    case .words(let words): node.array?.allSatisfy { $0.isOne(of: words) } ?? false
    }
  }

  var cure: String {
    switch self {
    case .string: "make it a <string>"
    case .boolean: "write <true/> or <false/>"
    case .word(let words): "write \(words.joined(separator: ", "))"
    case .words(let words): "make it an <array> of \(words.joined(separator: ", "))"
    }
  }
}

extension PropertyListNode {
  fileprivate func isOne(of words: [String]) -> Bool {
    string.map { words.contains(where: $0.isSame) } ?? false
  }
}
