// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle
import TestSupport
import Testing

/// A run of combining marks in every place for a text: canonical equivalence takes the square of
/// its length, hours for a megabyte.
@Suite struct CombiningMarkTests {
  private static func field(_ title: String, _ key: String) -> String {
    members(
      "PSTextFieldSpecifier",
      ["Title": "<string>\(title)</string>", "Key": "<string>\(key)</string>"])
  }

  /// The rows of other tests, where `¦` is a text of marks, and `|` is another text, which is
  /// canonically equal.
  static let rows: [String] =
    [
      field("¦", "¦") + "</dict><dict>" + field("t", "|"), child("¦"), child("../¦"),
      child("|.plist"),
    ]
    + (Specifiers.sound.map(\.0) + LintTests.rows.map(\.0)).map(marked).filter { $0.contains("¦") }

  private static func marked(_ row: String) -> String {
    var isFirst = false
    let text = /<string>(?!PS|IASK|[kt]<)[^<]*<\/string>/
    return row.replacing("¦", with: "").replacing(text) { _ in
      isFirst.toggle()
      return "<string>\(isFirst ? "¦" : "|")</string>"
    }
  }

  private func check(_ text: String, in folder: Folder) throws {
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
  @Test(arguments: Seeds.rounds(rows, debug: [rows[0]]))
  func aRowWithARunOfMarksCostsNoTime(_ row: String) throws {
    try expectLittleWork { try check(pane(row), in: Folder()) }
  }

  @Test(
    arguments: Seeds.rounds(["ApplicationGroupContainerIdentifier", "Title"], debug: ["Title"]))
  func aPaneWithARunOfMarksCostsNoTime(_ key: String) throws {
    let folder = try Folder()
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
