// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle
import Testing

/// A run of combining marks in every place for a text: canonical equivalence takes the square of
/// its length, hours for a megabyte.
@Suite struct CombiningMarkTests {
  /// `¦` is a text of marks, `|` another one that is canonically equal.
  static let rows: [String] = [
    members("¦"),
    members(
      "PSGroupSpecifier", ["Title": "<string>¦</string>", "FooterText": "<string>¦</string>"]),
    members(
      "PSGroupSpecifier", ["SupportedUserInterfaceIdioms": "<array><string>¦</string></array>"]),
    members("PSTextFieldSpecifier", ["Title": "<string>t</string>", "Key": "<string>¦</string>"])
      + "</dict><dict>"
      + members(
        "PSTextFieldSpecifier", ["Title": "<string>t</string>", "Key": "<string>|</string>"]),
    members(
      "PSTextFieldSpecifier",
      [
        "Key": "<string>k</string>", "DefaultValue": "<string>¦</string>", "IsSecure": "<true/>",
      ]),
    members(
      "PSTextFieldSpecifier", ["Key": "<string>k</string>", "KeyboardType": "<string>¦</string>"]),
    members(
      "PSTextFieldSpecifier",
      ["Key": "<string>k</string>", "AutocorrectionType": "<string>¦</string>"]),
    members(
      "PSMultiValueSpecifier",
      [
        "Title": "<string>t</string>", "Key": "<string>k</string>",
        "DefaultValue": "<string>¦</string>",
        "Values": "<array><string>|</string><string>¦</string></array>",
        "Titles": "<array><string>a</string><string>b</string></array>",
      ]),
    members(
      "PSMultiValueSpecifier",
      [
        "Title": "<string>t</string>", "Key": "<string>k</string>",
        "DefaultValue": "<integer>1</integer>", "DisplaySortedByTitle": "<true/>",
        "Values": "<array><integer>1</integer><integer>2</integer></array>",
        "Titles": "<array><string>|</string><string>¦</string></array>",
        "ShortTitles": "<array><string>|</string><string>¦</string></array>",
      ]),
    members(
      "PSToggleSwitchSpecifier",
      [
        "Title": "<string>¦</string>", "Key": "<string>k</string>",
        "DefaultValue": "<string>¦</string>", "TrueValue": "<string>|</string>",
        "FalseValue": "<string>¦</string>",
      ]),
    child("¦"), child("../¦"), child("|.plist"),
    members("PSChildPaneSpecifier", ["Title": "<string>¦</string>", "File": "<string>¦</string>"]),
  ]

  private func check(_ text: String, in folder: TemporaryFolder) throws {
    let path = try folder.write("", to: "Root.plist")
    try Data(CombiningMarks.bytes(of: text)).write(to: URL(fileURLWithPath: path))
    for idiom in [nil, SettingsBundle.Idiom.pad] {
      let bundle = try SettingsBundle(at: folder.path, mode: .lenient, idiom: idiom)
      _ = bundle.outline(idiom: idiom)
      _ = bundle.declarations
    }
    _ = try SettingsBundle.lint(at: folder.path)
  }

  /// A debug build needs five seconds for each row.
  private static var someRows: [String] {
    #if DEBUG
      [rows[3]]
    #else
      rows
    #endif
  }

  @Test(arguments: someRows)
  func aRowWithARunOfMarksCostsNoTime(_ row: String) throws {
    try expectLittleWork { try check(pane(row), in: TemporaryFolder()) }
  }

  private static var someKeys: [String] {
    #if DEBUG
      ["Title"]
    #else
      ["ApplicationGroupContainerIdentifier", "Title"]
    #endif
  }

  @Test(arguments: someKeys)
  func aPaneWithARunOfMarksCostsNoTime(_ key: String) throws {
    let folder = try TemporaryFolder()
    let text = pane(child("B"), toggle("a"))
    try Data(
      CombiningMarks.bytes(
        of: text.replacing("<key>Pref", with: "<key>\(key)</key><string>|</string><key>Pref"))
    )
    .write(to: URL(fileURLWithPath: folder.path + "/B.plist"))
    try expectLittleWork {
      try check(
        text.replacing("<key>Pref", with: "<key>\(key)</key><string>¦</string><key>Pref"),
        in: folder)
    }
  }
}
