// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle
package import KeepsakeValues

/// Rows that keep the schema, and rows that break it.
package enum Specifiers {
  package static let two = "<array><string>a</string><string>b</string></array>"
  private static let tooLarge = "<integer>9223372036854775808</integer>"

  package static func choice(
    _ type: String, _ value: String, _ values: String, titles: String = two
  ) -> String {
    keyed(
      type, ["DefaultValue": value, "Values": "<array>\(values)</array>", "Titles": titles])
  }

  package static func slider(_ value: String?, _ minimum: String?, _ maximum: String?) -> String {
    let pairs = [("DefaultValue", value), ("MinimumValue", minimum), ("MaximumValue", maximum)]
    return members("PSSliderSpecifier", ["Key": "<string>k</string>"])
      + pairs.map { name, xml in xml.map { "<key>\(name)</key>\($0)" } ?? "" }.joined()
  }

  package static func keyed(_ type: String, _ rest: KeyValuePairs<String, String>) -> String {
    members(type, ["Title": "<string>t</string>", "Key": "<string>k</string>"])
      + rest.map { "<key>\($0)</key>\($1)" }.joined()
  }

  /// A specifier and the value that it seeds, the same in both modes.
  package static let sound: [(String, StoredValue?)] = [
    (members("PSGroupSpecifier"), nil),
    (members("PSGroupSpecifier", ["Key": "<integer>1</integer>", "DefaultValue": "<true/>"]), nil),
    (keyed("PSTextFieldSpecifier", [:]), nil),
    (keyed("PSTextFieldSpecifier", ["DefaultValue": "<string>v</string>"]), "v"),
    (keyed("PSTextFieldSpecifier", ["DefaultValue": "<string/>"]), ""),
    (members("PSTextFieldSpecifier", ["Key": "<string>k</string>"]), nil),
    (keyed("PSTitleValueSpecifier", ["DefaultValue": "<string>v</string>"]), "v"),
    (keyed("PSTitleValueSpecifier", ["DefaultValue": "<integer>4</integer>"]), 4),
    (keyed("PSTitleValueSpecifier", ["DefaultValue": "<array><true/></array>"]), [true]),
    (
      choice("PSTitleValueSpecifier", "<string>b</string>", "<string>a</string><string>b</string>"),
      "b"
    ),
    (keyed("PSToggleSwitchSpecifier", ["DefaultValue": "<true/>"]), true),
    (keyed("PSToggleSwitchSpecifier", ["DefaultValue": "<false/>"]), false),
    (
      keyed(
        "PSToggleSwitchSpecifier",
        [
          "DefaultValue": "<string>no</string>", "TrueValue": "<string>yes</string>",
          "FalseValue": "<string>no</string>",
        ]), "no"
    ),
    (
      keyed(
        "PSToggleSwitchSpecifier",
        [
          "DefaultValue": "<integer>1</integer>", "TrueValue": "<integer>1</integer>",
          "FalseValue": "<integer>0</integer>",
        ]), 1
    ),
    (
      keyed(
        "PSToggleSwitchSpecifier",
        [
          "DefaultValue": "<integer>1</integer>", "TrueValue": "<real>1</real>",
          "FalseValue": "<real>0</real>",
        ]), 1.0
    ),
    (
      keyed(
        "PSToggleSwitchSpecifier",
        [
          "DefaultValue": "<date>2001-01-01T00:00:00Z</date>", "TrueValue": "<data>AA==</data>",
          "FalseValue": "<date>2001-01-01T00:00:00Z</date>",
        ]), .date(Date(timeIntervalSinceReferenceDate: 0))
    ),
    (
      keyed(
        "PSToggleSwitchSpecifier",
        ["DefaultValue": "<string>on</string>", "TrueValue": "<string>on</string>"]), "on"
    ),
    (
      keyed(
        "PSToggleSwitchSpecifier",
        ["DefaultValue": "<false/>", "TrueValue": "<integer>1</integer>"]
      ), false
    ),
    (slider("<real>0.5</real>", "<integer>0</integer>", "<real>1</real>"), 0.5),
    (slider("<integer>5</integer>", "<integer>0</integer>", "<integer>10</integer>"), 5),
    (
      slider("<integer>9007199254740992</integer>", "<real>0</real>", "<real>1</real>"),
      9_007_199_254_740_992
    ),
    (
      choice("PSMultiValueSpecifier", "<string>b</string>", "<string>a</string><string>b</string>"),
      "b"
    ),
    (choice("PSMultiValueSpecifier", "<integer>2</integer>", "<true/><integer>2</integer>"), 2),
    (
      choice("PSMultiValueSpecifier", "<integer>1</integer>", "<real>0.5</real><real>1</real>"), 1.0
    ),
    (choice("PSMultiValueSpecifier", "<array/>", "<true/><array/>"), []),
    (
      choice(
        "PSMultiValueSpecifier", "<true/>",
        "<integer>18446744073709551615</integer><true/>"), true
    ),
    (
      choice("PSRadioGroupSpecifier", "<string>a</string>", "<string>a</string><string>b</string>"),
      "a"
    ),
    (keyed("IASKTextViewSpecifier", ["DefaultValue": "<data>AAE=</data>"]), .data(Data([0, 1]))),
    (keyed("IASKButtonSpecifier", [:]), nil),
    (members("IASKButtonSpecifier", ["DefaultValue": "<true/>"]), nil), (members(""), nil),
  ]

  /// A specifier, `¦` before the element at fault if that is not the specifier itself, and the
  /// code.
  package static let broken: [(String, PropertyListError.Code)] = [
    (members("PSGroupSpecifier", ["Title": "¦<true/>"]), .wrongType),
    ("<key>Key</key><string>k</string>", .requiredKeyMissing),
    ("<key>Type</key>¦<integer>1</integer>", .wrongType),
    (members("PSTextFieldSpecifier"), .requiredKeyMissing),
    (members("PSTextFieldSpecifier", ["Key": "¦<true/>"]), .wrongType),
    (keyed("PSTextFieldSpecifier", ["DefaultValue": "¦<array/>"]), .wrongType),
    (keyed("PSTitleValueSpecifier", [:]), .requiredKeyMissing),
    (keyed("PSTitleValueSpecifier", ["DefaultValue": "¦\(tooLarge)"]), .unsignedTooLarge),
    (
      keyed("PSTitleValueSpecifier", ["DefaultValue": "<array><true/>¦\(tooLarge)</array>"]),
      .unsignedTooLarge
    ),
    (keyed("PSToggleSwitchSpecifier", [:]), .requiredKeyMissing),
    (slider(nil, "<real>0</real>", "<real>1</real>"), .requiredKeyMissing),
    (slider("¦\(tooLarge)", "<real>0</real>", "<real>1</real>"), .unsignedTooLarge),
    (members("PSChildPaneSpecifier", ["Title": "<string>t</string>"]), .requiredKeyMissing),
    (
      members("PSChildPaneSpecifier", ["Title": "<string>t</string>", "File": "¦<true/>"]),
      .wrongType
    ),
    (members("IASKButtonSpecifier", ["Key": "¦<true/>", "DefaultValue": "<true/>"]), .wrongType),
    (
      members(
        "IASKButtonSpecifier", ["Key": "<string>k</string>", "DefaultValue": "¦\(tooLarge)"]),
      .unsignedTooLarge
    ),
  ]

  /// A specifier, `¦` before the element at fault if that is not the specifier itself, the code,
  /// and the value that it seeds nevertheless.
  package static let unfit: [(String, PropertyListError.Code, StoredValue)] = [
    (keyed("PSTextFieldSpecifier", ["DefaultValue": "¦<integer>5060</integer>"]), .wrongType, 5060),
    (
      keyed("PSTitleValueSpecifier", ["DefaultValue": "<true/>", "Values": "<array/>"]),
      .requiredKeyMissing, true
    ),
    (
      keyed("PSToggleSwitchSpecifier", ["DefaultValue": "¦<string>YES</string>"]),
      .defaultNotAmongValues, "YES"
    ),
    (
      keyed("PSToggleSwitchSpecifier", ["DefaultValue": "¦<integer>1</integer>"]),
      .defaultNotAmongValues, 1
    ),
    (
      keyed("PSToggleSwitchSpecifier", ["DefaultValue": "<true/>", "TrueValue": "¦<array/>"]),
      .wrongType, true
    ),
    (
      keyed("PSToggleSwitchSpecifier", ["DefaultValue": "<true/>", "FalseValue": "¦<dict/>"]),
      .wrongType, true
    ),
    (
      keyed("PSToggleSwitchSpecifier", ["DefaultValue": "¦<true/>", "TrueValue": "<string/>"]),
      .defaultNotAmongValues, true
    ),
    (slider("<real>1</real>", nil, "<real>1</real>"), .requiredKeyMissing, 1.0),
    (slider("<real>1</real>", "<real>0</real>", nil), .requiredKeyMissing, 1.0),
    (slider("¦<true/>", "<real>0</real>", "<real>1</real>"), .wrongType, true),
    (slider("¦<string>1</string>", "<real>0</real>", "<real>1</real>"), .wrongType, "1"),
    (slider("<real>1</real>", "¦<string>0</string>", "<real>1</real>"), .wrongType, 1.0),
    (slider("<real>1</real>", "<real>0</real>", "¦<true/>"), .wrongType, 1.0),
    (
      slider("¦<integer>9007199254740993</integer>", "<real>0</real>", "<real>1</real>"),
      .wrongType, 9_007_199_254_740_993
    ),
    (
      choice("PSMultiValueSpecifier", "¦<string>é</string>", "<string>e\u{301}</string><true/>"),
      .defaultNotAmongValues, "é"
    ),
    (
      choice("PSMultiValueSpecifier", "¦<string>c</string>", "<true/><false/>"),
      .defaultNotAmongValues, "c"
    ),
    (
      choice("PSMultiValueSpecifier", "¦<string>1</string>", "<real>1</real><real>2</real>"),
      .defaultNotAmongValues, "1"
    ),
    (
      choice("PSMultiValueSpecifier", "¦<real>1</real>", "<integer>1</integer><true/>"),
      .defaultNotAmongValues, 1.0
    ),
    (
      choice("PSMultiValueSpecifier", "<true/>", "<true/>", titles: "¦\(two)"), .countMismatch, true
    ),
    (
      choice("PSMultiValueSpecifier", "<true/>", "<true/><true/><true/>", titles: "¦\(two)"),
      .countMismatch, true
    ),
    (
      keyed(
        "PSMultiValueSpecifier",
        ["DefaultValue": "<true/>", "Values": "¦<true/>", "Titles": "<array/>"]), .wrongType, true
    ),
    (
      keyed(
        "PSMultiValueSpecifier",
        ["DefaultValue": "<true/>", "Values": "<array/>", "Titles": "¦<dict/>"]), .wrongType, true
    ),
    (
      choice(
        "PSMultiValueSpecifier", "<true/>", "<true/>",
        titles: "<array>¦<integer>1</integer></array>"),
      .wrongType, true
    ),
    (keyed("PSMultiValueSpecifier", ["DefaultValue": "<true/>"]), .requiredKeyMissing, true),
    (keyed("PSRadioGroupSpecifier", ["DefaultValue": "<true/>"]), .requiredKeyMissing, true),
    (
      choice("PSRadioGroupSpecifier", "¦<integer>3</integer>", "<true/><false/>"),
      .defaultNotAmongValues, 3
    ),
  ]
}
