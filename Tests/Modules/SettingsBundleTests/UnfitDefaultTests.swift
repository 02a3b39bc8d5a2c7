// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import KeepsakeValues
import Testing

/// Defaults that do not fit their rows, as real bundles have them: iOS registers each, and
/// `UserDefaults` reads it.
@Suite struct UnfitDefaultTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static func keyed(_ type: String, _ rest: KeyValuePairs<String, String>) -> String {
    Specifiers.keyed(type, rest)
  }

  private static func choice(
    _ type: String, _ value: String, _ values: String, titles: String = two
  ) -> String {
    Specifiers.choice(type, value, values, titles: titles)
  }

  private static func slider(_ value: String?, _ minimum: String?, _ maximum: String?) -> String {
    Specifiers.slider(value, minimum, maximum)
  }

  private static let two = Specifiers.two

  /// A specifier, `¦` before the element at fault if that is not the specifier itself, the code,
  /// and the value that it seeds nevertheless.
  static let unfit: [(String, PropertyListError.Code, StoredValue)] = [
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

  @Test(arguments: unfit)
  func aScalarThatDoesNotFitIsThrownOrKept(
    _ specifier: String, _ code: PropertyListError.Code, _ value: StoredValue
  ) throws {
    let parts = specifier.split(separator: "¦", omittingEmptySubsequences: false)
    let column = parts.count == 1 ? 1 : "<dict>\(parts[0])".unicodeScalars.count + 1
    try folder.write(pane(parts.joined(), toggle("after")), to: "Root.plist")
    #expect(outcome(folder.path, .strict) == ["error Root.plist:6:\(column) \(code.rawValue)"])
    #expect(
      outcome(folder.path, .lenient)
        == [
          "k=\(value) Root.plist:6", "after=true Root.plist:7", "warning Root.plist:6:\(column)",
        ])
  }

  private func warnings(_ specifiers: String...) throws -> [String] {
    try folder.write(
      pane(specifiers[0], specifiers.count > 1 ? specifiers[1] : ""), to: "Root.plist")
    return try SettingsBundle(at: folder.path, mode: .lenient).warnings.map(\.message)
  }

  @Test func theMessageTellsTheValueAndWhatValuesHolds() throws {
    let reals = (1...6).map { "<real>0.\($0)</real>" }.joined()
    let titles = "<array>" + String(repeating: "<string>t</string>", count: 6) + "</array>"
    let row = Self.keyed(
      "PSMultiValueSpecifier",
      [
        "DefaultValue": "<string>0.4</string>", "Values": "<array>\(reals)</array>",
        "Titles": titles,
      ])
    #expect(
      try warnings(row).first
        == "the DefaultValue of the multi-value \"k\", the string \"0.4\", is none of its Values,"
        + " the real 0.1, the real 0.2, the real 0.3, the real 0.4 and 2 more;"
        + " use one of them, of the same type")
  }

  @Test func theMessageOfASecureFieldNeverTellsItsValue() throws {
    let row = Self.keyed(
      "PSTextFieldSpecifier", ["IsSecure": "<true/>", "DefaultValue": "<integer>4711</integer>"])
    let messages = try warnings(row)
    #expect(
      messages.first
        == "the DefaultValue of the text field \"k\" is an integer, not a string; change its type")
    #expect(!messages.joined().contains("4711"))
  }

  @Test func ofTwoDefaultsOfAKeyTheFirstCountsAlsoWhereItDoesNotFit() throws {
    let field = Self.keyed("PSTextFieldSpecifier", ["DefaultValue": "<integer>1</integer>"])
    try folder.write(pane(field, toggle("k")), to: "Root.plist")
    let place = "Root.plist:7:\("<dict>\(toggle("k", "¦"))".prefix { $0 != "¦" }.count + 1)"
    #expect(
      outcome(folder.path, .lenient).filter { !$0.contains(":6:") }
        == ["k=1 Root.plist:6", "warning \(place)"])
  }

  static let nameless = [
    Self.keyed("PSTextFieldSpecifier", ["DefaultValue": "<string>v</string>"]),
    Self.keyed("PSTextFieldSpecifier", [:]), Self.keyed("PSToggleSwitchSpecifier", [:]),
    Self.keyed("IASKTextViewSpecifier", ["DefaultValue": "<true/>"]),
  ]

  @Test(arguments: nameless, SettingsBundle.Mode.allCases)
  func anEmptyKeyIsAWarningInBothModes(
    _ specifier: String, _ mode: SettingsBundle.Mode
  ) throws {
    let empty = specifier.replacing("<string>k</string>", with: "<string></string>")
    try folder.write(pane(empty, toggle("after")), to: "Root.plist")
    let lines = outcome(folder.path, mode)
    #expect(lines.first == "after=true Root.plist:7")
    #expect(lines.count == 2 && lines[1].hasPrefix("warning Root.plist:6:"), "\(lines)")
  }

  @Test(arguments: SettingsBundle.Mode.allCases)
  func anEmptyKeyOfAFlatTableIsAWarning(_ mode: SettingsBundle.Mode) throws {
    let path = try folder.write(
      document("<dict><key></key><true/><key>a</key><true/></dict>"), to: "flat.plist")
    #expect(
      outcome(path, mode) == ["a=true flat.plist:3", "warning flat.plist:3:7"])
  }
}
