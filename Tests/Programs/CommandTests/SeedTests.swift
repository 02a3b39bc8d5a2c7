// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Our own Settings bundle: a toggle in the root, a slider and a text field in a pane.
private struct SettingsBundle {
  var root = SettingsBundle.pane([
    ["Type": "PSGroupSpecifier"],
    [
      "Type": "PSToggleSwitchSpecifier", "Title": "Sound", "Key": "sound",
      "DefaultValue": "<true/>",
    ],
    ["Type": "PSChildPaneSpecifier", "Title": "More", "File": "More"],
  ])
  var more = SettingsBundle.pane([
    ["Type": "PSTextFieldSpecifier", "Title": "Name", "Key": "name", "DefaultValue": "guest"]
  ])

  /// One line for each specifier, the first in line 6; members in a fixed order.
  static func pane(_ specifiers: [KeyValuePairs<String, String>]) -> String {
    let rows = specifiers.map { members in
      let texts = members.map { name, value in
        "<key>\(name)</key>" + (value.hasPrefix("<") ? value : "<string>\(value)</string>")
      }
      return "    <dict>\(texts.joined())</dict>"
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0">
      <dict>
        <key>PreferenceSpecifiers</key>
        <array>
      \(rows.joined(separator: "\n"))
        </array>
      </dict>
      </plist>
      """
  }

  func write(in folder: Folder) throws {
    try folder.write(root, to: "S.bundle/Root.plist")
    try folder.write(more, to: "S.bundle/More.plist")
  }
}

@Suite struct SeedTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private let lost: KeyValuePairs = [
    "Type": "PSChildPaneSpecifier", "Title": "Lost", "File": "Lost",
  ]
  private let odd: KeyValuePairs = [
    "Type": "PSToggleSwitchSpecifier", "Title": "T", "Key": "odd", "DefaultValue": "x",
  ]
  private let oddity =
    "the DefaultValue of the toggle switch \"odd\", a string, is neither its "
    + "TrueValue nor its FalseValue; use one of them, of the same type"
  private let loss = "the pane \"Lost.plist\" does not exist; add it, or remove this row"

  @Test func seedCountsDefaultsAndPanes() throws {
    try SettingsBundle().write(in: folder)
    try folder.expect("seed", "a", "S.bundle", prints: "2 defaults from 2 panes\n")
    try folder.expect(
      "seed", "a", "S.bundle", "--json", prints: #"{"seeded":2,"panes":2,"warnings":[]}"# + "\n")
    try folder.expect(
      "list", "a", "--defaults",
      prints: "defaults\tname\tstring\t\"guest\"\tdefault, More.plist:6\n"
        + "defaults\tsound\tboolean\ttrue\tdefault, Root.plist:7\n")
    try folder.expect("seed", "a", "S.bundle", "--quiet")
    try folder.expect("seed", "a", "S.bundle", "--store", "cloud", "--quiet")
    try folder.expect("get", "a", "name", prints: "guest\n")
  }

  @Test func aSeedIsNoEntryAndNeverTravels() throws {
    try SettingsBundle().write(in: folder)
    try folder.must("seed", "a", "S.bundle", "--store", "cloud")
    try folder.must("set", "b", "k", "v", Moment.ten.argument)
    let (a, b) = (try folder.replica("a"), try folder.replica("b"))
    try folder.expect(
      "list", "a", "--json", "--deleted", prints: #"{"replica":"\#(a)","stores":{}}"# + "\n")
    var report = MergeReport([("a", a), ("b", b)])
    report.transfer("b", "a", received: 1, changed: 1)
    report.transfer("a", "b")
    report.change("a", "cloud", "k", old: nil, new: "v", origin: b)
    try folder.expect("merge", "a", "b", "--json", Moment.ten.argument, prints: report.line)
    try folder.expect("list", "b", "--defaults", prints: "cloud\tk\tstring\t\"v\"\n")
  }

  @Test func aMissingPaneIsAWarning() throws {
    var bundle = SettingsBundle()
    bundle.root = SettingsBundle.pane([lost])
    try bundle.write(in: folder)
    try folder.expect(
      "seed", "a", "S.bundle", prints: "0 defaults from 1 pane\n",
      says: "kvsync: S.bundle/Root.plist:6:115: \(loss)\n")
    let message = loss.replacing("\"", with: "\\\"")
    let warning = #"{"file":"Root.plist","line":6,"column":115,"message":"\#(message)"}"#
    try folder.expect(
      "seed", "a", "S.bundle", "--json",
      prints: #"{"seeded":0,"panes":1,"warnings":[\#(warning)]}"# + "\n")
    try folder.expect("seed", "a", "S.bundle", "--quiet")
  }

  @Test func aSpecifierThatBreaksTheSchemaIsAnErrorAndLenientlyAWarning() throws {
    var bundle = SettingsBundle()
    bundle.root = SettingsBundle.pane([odd, lost])
    try bundle.write(in: folder)
    let place = "S.bundle/Root.plist:6:157"
    try folder.expect("seed", "a", "S.bundle", says: "kvsync: \(place): \(oddity)\n", code: 65)
    #expect(!folder.exists("a"))
    try folder.expect(
      "seed", "a", "S.bundle", "--lenient", prints: "1 default from 1 pane\n",
      says: "kvsync: \(place): \(oddity)\nkvsync: S.bundle/Root.plist:7:115: \(loss)\n")
  }

  @Test func aMalformedPaneIsRefusedWithItsPlaceAndACureAndLenientlyAWarning() throws {
    var bundle = SettingsBundle()
    try bundle.write(in: folder)
    try folder.must("seed", "a", "S.bundle")
    let before = try folder.contents("a")
    bundle.more = bundle.more.replacing("</array>", with: "</arrray>")
    try bundle.write(in: folder)
    let line =
      "kvsync: S.bundle/More.plist:7:3: expected </array>; close the element that is open\n"
    for file in ["a", "new"] {
      try folder.expect("seed", file, "S.bundle", says: line, code: 65)
    }
    #expect(try folder.contents("a") == before)
    #expect(!folder.exists("new"))
    let lenient = try folder.run(["seed", "new", "S.bundle", "--lenient"])
    #expect(lenient.code == 0 && lenient.stderr == line, "\(lenient)")
  }

  @Test func theFilesOfADeviceSeedForIt() throws {
    var bundle = SettingsBundle()
    try bundle.write(in: folder)
    bundle.more = bundle.more.replacing("guest", with: "pad")
    try folder.write(bundle.more, to: "S.bundle/More~ipad.plist")
    for (words, name) in [
      ([], "guest"), (["--idiom", "pad"], "pad"), (["--idiom", "phone"], "guest"),
    ] {
      #expect(try folder.run(["seed", "a", "S.bundle"] + words).code == 0)
      try folder.expect("get", "a", "name", "--store", "defaults", prints: "\(name)\n")
    }
    let ending = try folder.run(["seed", "a", "S.bundle", "--idiom", "watch"])
    #expect(ending.code == 64 && ending.stderr.hasPrefix("kvsync: a: "), "\(ending)")
  }

  @Test func whatIsNoBundleIsRefused() throws {
    try folder.makeFolder("Empty.bundle")
    try folder.write("hello", to: "text")
    try folder.link("nowhere", to: "gone")
    let missing = "there is no such file; check the path"
    try folder.expect("seed", "a", "gone", says: "kvsync: gone: \(missing)\n", code: 66)
    try folder.expect("seed", "a", "nowhere", says: "kvsync: nowhere: \(missing)\n", code: 66)
    try folder.expect(
      "seed", "a", "Empty.bundle", says: "kvsync: Empty.bundle/Root.plist: \(missing)\n", code: 66)
    try folder.expect(
      "seed", "a", "text",
      says: "kvsync: text:1:1: this is not XML, which starts with <, nor a binary property list; "
        + "convert it with plutil -convert xml1\n", code: 65)
    #expect(!folder.exists("a"))
  }
}
