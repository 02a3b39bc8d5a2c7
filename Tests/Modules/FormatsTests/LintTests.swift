// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle
import TestSupport
import Testing

@Suite struct LintTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  /// `file:line:column severity rule` of each finding.
  private func findings(_ path: String? = nil) throws -> [String] {
    try SettingsBundle.lint(at: path ?? folder.path).map {
      "\($0.problem.place) \($0.severity) \($0.rule)"
    }
  }

  private static let two = "<array><string>a</string><string>b</string></array>"

  private static func keyed(_ type: String, _ rest: KeyValuePairs<String, String>) -> String {
    members(type, ["Title": "<string>t</string>", "Key": "<string>k</string>"])
      + rest.map { "<key>\($0)</key>\($1)" }.joined()
  }

  private static func choice(_ rest: KeyValuePairs<String, String>) -> String {
    keyed("PSMultiValueSpecifier", ["DefaultValue": "<string>a</string>"])
      + rest.map { "<key>\($0)</key>\($1)" }.joined()
  }

  private static func field(_ rest: KeyValuePairs<String, String>) -> String {
    keyed("PSTextFieldSpecifier", rest)
  }

  /// A row of a pane, `¦` before the element at fault, and the finding.
  static let rows: [(String, String)] = [
    ("<key>Type</key>¦<string>X</string>", "warning unknown-type"),
    (field(["¦": "<true/>"]), "warning unknown-key"),
    (members("PSGroupSpecifier", ["¦title": "<string>x</string>"]), "warning unknown-key"),
    (
      members(
        "PSChildPaneSpecifier", ["Title": "<string>t</string>", "File": "¦<string>X</string>"]),
      "warning missing"
    ),
    (field(["DefaultValue": "¦<integer>1</integer>"]), "error wrong-type"),
    (choice(["Values": two, "Titles": "¦<array/>"]), "error count-mismatch"),
    (
      keyed("PSToggleSwitchSpecifier", ["DefaultValue": "¦<string/>"]),
      "error default-not-among-values"
    ),
    ("¦" + keyed("PSTitleValueSpecifier", [:]), "error required-key-missing"),
  ]

  @Test(arguments: rows)
  func doubtfulRowIsFoundAtItsPlace(_ row: String, _ expected: String) throws {
    let atKey = row.contains("<key>¦")
    let parts = row.replacing("<key>¦", with: "¦<key>").split(
      separator: "¦", omittingEmptySubsequences: false)
    let isRow = parts.first?.isEmpty == true && !atKey
    let column = isRow ? 1 : "<dict>\(parts[0])".unicodeScalars.count + 1
    try folder.write(pane(parts.joined(), toggle("fine")), to: "Root.plist")
    try folder.write(pane(toggle("p")), to: "P.plist")
    let found = try findings().filter { !$0.hasPrefix("P.plist") }
    #expect(found == ["Root.plist:6:\(column) \(expected)"])
  }

  @Test func soundBundleHasNoFindings() throws {
    for (row, _) in Specifiers.sound where row.contains("PS") {
      try folder.write(pane(row), to: "Root.plist")
      #expect(try findings().allSatisfy { $0.hasSuffix("unknown-key") }, "\(row)")
    }
    try folder.write(pane(toggle("a"), child("B")), to: "Root.plist")
    try folder.write(pane(toggle("b")), to: "B.plist")
    #expect(try findings().isEmpty)
  }

  /// Whatever strict reading refuses is an error, and nothing else is.
  @Test func errorsAreWhatStrictReadingRefuses() throws {
    for (row, code) in Specifiers.broken {
      try folder.write(pane(row.replacing("¦", with: "")), to: "Root.plist")
      let errors = try SettingsBundle.lint(at: folder.path).filter { $0.severity == .error }
      let rule = code.rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
      #expect(errors.contains { $0.rule == rule }, "\(row)")
    }
    for (row, expected) in Self.rows where expected.hasPrefix("warning") {
      try folder.write(pane(row.replacing("¦", with: "")), to: "Root.plist")
      #expect(throws: Never.self) { try SettingsBundle(at: folder.path) }
    }
  }

  @Test func conflictingDefaultsAreFound() throws {
    try folder.write(pane(toggle("a"), toggle("a"), toggle("b"), child("B")), to: "Root.plist")
    try folder.write(pane(toggle("b", "<false/>")), to: "B.plist")
    #expect(try findings() == ["B.plist:6:151 error conflicting-defaults"])
    let finding = try #require(try SettingsBundle.lint(at: folder.path).first)
    #expect(
      finding.description
        == #"B.plist:6:151: error: the key "b" has another default at Root.plist:8; "#
        + "make the two equal, or rename one key [conflicting-defaults]")
  }

  @Test func panesAreCheckedToo() throws {
    try folder.write(pane(child("A"), child("sub/B")), to: "Root.plist")
    try folder.write(
      pane().replacing("<key>Pref", with: "<key>stringsTable</key><true/><key>Pref"),
      to: "A.plist")
    try folder.write(pane(child("A"), child("sub/B")), to: "sub/B.plist")
    #expect(try findings() == ["A.plist:4:1 warning unknown-key"])
  }

  @Test func filesForOneDeviceAreReadToo() throws {
    try folder.write(pane(toggle("a")), to: "Root.plist")
    try folder.write(pane(toggle("b", "<string/>"), child("Pad")), to: "Root~ipad.plist")
    try folder.write(pane(toggle("c")), to: "Pad.plist")
    try folder.write(pane(toggle("b")), to: "Root~iphone.plist")
    #expect(try findings() == ["Root~ipad.plist:6:151 error default-not-among-values"])
  }

  @Test func malformedFileForOneDeviceIsAFinding() throws {
    try folder.write(pane(toggle("a")), to: "Root.plist")
    try folder.write("<plist>", to: "Root~ipad.plist")
    #expect(try findings() == ["Root~ipad.plist:1:8 error unexpected-end"])
  }

  @Test func malformedFilesAreFindings() throws {
    try folder.write("<plist>\n<dict></plist>", to: "Root.plist")
    #expect(try findings() == ["Root.plist:2:7 error mismatched-tag"])
    #expect(try findings(folder.path + "/Root.plist") == ["Root.plist:2:7 error mismatched-tag"])
    try folder.write(pane(child("A"), toggle("a", "<string/>")), to: "Root.plist")
    try folder.write("<plist>", to: "A.plist")
    #expect(
      try findings() == [
        "Root.plist:7:151 error default-not-among-values", "A.plist:1:8 error unexpected-end",
      ])
    #expect(throws: PropertyListError.self) { try findings(folder.path + "/none") }
  }
}
