// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import Testing

/// Defaults that do not fit their rows, as real bundles have them: iOS registers each, and
/// `UserDefaults` reads it.
@Suite struct UnfitDefaultTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func warnings(_ specifier: String) throws -> [String] {
    try folder.write(pane(specifier), to: "Root.plist")
    return try SettingsBundle(at: folder.path, mode: .lenient).warnings.map(\.message)
  }

  @Test func theMessageTellsTheValueAndWhatValuesHolds() throws {
    let reals = (1...6).map { "<real>0.\($0)</real>" }.joined()
    let titles = "<array>" + String(repeating: "<string>t</string>", count: 6) + "</array>"
    let row = Specifiers.keyed(
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
    let row = Specifiers.keyed(
      "PSTextFieldSpecifier", ["IsSecure": "<true/>", "DefaultValue": "<integer>4711</integer>"])
    let messages = try warnings(row)
    #expect(
      messages.first
        == "the DefaultValue of the text field \"k\" is an integer, not a string; change its type")
    #expect(!messages.joined().contains("4711"))
  }

  @Test func ofTwoDefaultsOfAKeyTheFirstCountsAlsoWhereItDoesNotFit() throws {
    let field = Specifiers.keyed("PSTextFieldSpecifier", ["DefaultValue": "<integer>1</integer>"])
    try folder.write(pane(field, toggle("k")), to: "Root.plist")
    let place = "Root.plist:7:\("<dict>\(toggle("k", "¦"))".prefix { $0 != "¦" }.count + 1)"
    #expect(
      outcome(folder.path, .lenient).filter { !$0.contains(":6:") }
        == ["k=1 Root.plist:6", "warning \(place)"])
  }

  static let nameless = [
    Specifiers.keyed("PSTextFieldSpecifier", ["DefaultValue": "<string>v</string>"]),
    Specifiers.keyed("PSTextFieldSpecifier", [:]), Specifiers.keyed("PSToggleSwitchSpecifier", [:]),
    Specifiers.keyed("IASKTextViewSpecifier", ["DefaultValue": "<true/>"]),
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
