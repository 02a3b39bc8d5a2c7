// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSettingsBundle
import Testing

/// A run of combining marks in every place for a text: canonical equivalence takes the square of
/// its length, hours for a megabyte.
@Suite struct CombiningMarkTests {
  private static let marks = String(repeating: "\u{301}\u{323}", count: 125_000)
  private static let other = String(repeating: "\u{323}\u{301}", count: 125_000)

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

  private func marked(_ text: String) -> [UInt8] {
    text.unicodeScalars.reduce(into: []) { bytes, scalar in
      switch scalar {
      case "¦": bytes += Self.marks.utf8
      case "|": bytes += Self.other.utf8
      default: bytes += String(scalar).utf8
      }
    }
  }

  private func check(_ text: String, in folder: TemporaryFolder) throws {
    let path = try folder.write("", to: "Root.plist")
    try Data(marked(text)).write(to: URL(fileURLWithPath: path))
    for idiom in [nil, SettingsBundle.Idiom.pad] {
      let bundle = try SettingsBundle(at: folder.path, mode: .lenient, idiom: idiom)
      _ = bundle.outline(bundle.strings(for: "de").0, idiom: idiom)
      _ = bundle.declarations
    }
    _ = try SettingsBundle.lint(at: folder.path)
  }

  @Test(arguments: rows)
  func aRowWithARunOfMarksCostsNoTime(_ row: String) throws {
    try expectLittleWork { try check(pane(row), in: TemporaryFolder()) }
  }

  @Test(arguments: ["StringsTable", "ApplicationGroupContainerIdentifier", "Title"])
  func aPaneWithARunOfMarksCostsNoTime(_ key: String) throws {
    let folder = try TemporaryFolder()
    let text = pane(child("B"), toggle("a"))
    try folder.write("\"t\" = \"u\";", to: "en.lproj/Root.strings")
    try Data(
      marked(text.replacing("<key>Pref", with: "<key>\(key)</key><string>|</string><key>Pref"))
    )
    .write(to: URL(fileURLWithPath: folder.path + "/B.plist"))
    try expectLittleWork {
      try check(
        text.replacing("<key>Pref", with: "<key>\(key)</key><string>¦</string><key>Pref"),
        in: folder)
    }
  }

  /// In the markup itself, with what is refused.
  @Test(
    arguments: [
      ("<?xml version=\"¦\"?><plist/>", "malformedDeclaration"),
      ("<?xml version=\"1.0\" encoding=\"¦\"?><plist/>", "unsupportedEncoding"),
      ("<?xml version=\"1.0\" standalone=\"¦\"?><plist/>", "malformedDeclaration"),
      ("<plist version=\"¦\"><¦/></plist>", "unexpectedElement"),
      ("<!DOCTYPE ¦><plist/>", "malformedDoctype"), ("<?¦?><plist/>", "missingValue"),
      ("<plist><string>&¦;</string></plist>", "invalidReference"),
      ("<plist><real>¦</real></plist>", "invalidReal"),
    ])
  func markupWithARunOfMarksCostsNoTime(_ text: String, _ code: String) throws {
    try expectLittleWork { #expect(refusal(marked(text)).hasSuffix(code)) }
  }
}
