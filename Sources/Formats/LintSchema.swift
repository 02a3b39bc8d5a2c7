// SPDX-License-Identifier: Apache-2.0
//
// The keys of the schema. The source is Apple's "Settings Application Schema Reference"
// (https://developer.apple.com/library/archive/documentation/PreferenceSettings/Conceptual/
// SettingsApplicationSchemaReference/).

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
}
