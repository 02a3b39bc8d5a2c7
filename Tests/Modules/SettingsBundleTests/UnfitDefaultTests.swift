// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import TestSupport
import Testing

/// Defaults that do not fit their rows, as real bundles have them: iOS registers each, and
/// `UserDefaults` reads it.
@Suite struct UnfitDefaultTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private func warnings(_ specifier: String) throws -> [String] {
    try folder.write(pane(specifier), to: "Root.plist")
    return try SettingsBundle(at: folder.path, mode: .lenient).warnings.map(\.message)
  }

  @Test func theMessageTellsTheTypeAndNotTheValue() throws {
    let field = Specifiers.keyed(
      "PSTextFieldSpecifier", ["DefaultValue": "<integer>4711</integer>"])
    #expect(
      try warnings(field) == [
        "the DefaultValue of the text field \"k\" is an integer, not a string; change its type"
      ])
    let choice = Specifiers.keyed(
      "PSMultiValueSpecifier",
      [
        "DefaultValue": "<string>0.4</string>", "Values": "<array><real>0.4</real></array>",
        "Titles": "<array><string>t</string></array>",
      ])
    #expect(
      try warnings(choice).first
        == "the DefaultValue of the multi-value \"k\", a string, is none of its Values;"
        + " use one of them, of the same type")
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
