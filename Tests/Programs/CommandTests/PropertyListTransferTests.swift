// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `export --format plist` and `import` of property lists.
@Suite struct PropertyListTransferTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  private let head = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """

  @Test func exportWritesOneStoreAsATable() throws {
    try folder.must("set", "a", "theme", "dark <&>")
    try folder.must("set", "a", "Size", "2", "--type", "integer")
    try folder.must("set", "a", "here", "1.5", "--type", "real", "--store", "defaults")
    try folder.must("set", "a", "gone", "x")
    try folder.must("delete", "a", "gone")
    try folder.expect(
      "export", "a", "--format", "plist",
      prints: head + "<dict>\n\t<key>Size</key>\n\t<integer>2</integer>\n\t<key>theme</key>\n"
        + "\t<string>dark &lt;&amp;&gt;</string>\n</dict>\n</plist>\n")
    try folder.expect(
      "export", "a", "--format", "plist", "--store", "defaults",
      prints: head + "<dict>\n\t<key>here</key>\n\t<real>1.5</real>\n</dict>\n</plist>\n")
    try folder.expect(
      "export", "a", "--format", "plist", "--store", "none", prints: head + "<dict/>\n</plist>\n")
    for option in ["--json", "--deleted"] {
      let ending = try folder.run(["export", "a", "--format", "plist", option])
      #expect(ending.code == 64 && ending.stdout == "" && ending.stderr.hasPrefix("kvsync: a: "))
    }
  }

  /// A value, its type, and the complaint.
  static let lossy = [
    ("a\u{1}", "string", "k: this text has a character that XML does not allow; "),
    (#"{"a":["\u0000"]}"#, "json", "k.a[0]: this text has a character that XML does not allow; "),
  ]

  @Test(arguments: lossy)
  func aValueThatAPropertyListCannotHoldIsRefused(
    _ value: String, _ type: String, _ complaint: String
  ) throws {
    try folder.must("set", "a", "k", value, "--type", type)
    let ending = try folder.run(["export", "a", "--format", "plist"])
    #expect(ending.code == 65 && ending.stdout == "", "\(ending)")
    #expect(ending.stderr.hasPrefix("kvsync: a: " + complaint), "\(ending)")
    #expect(ending.stderr.hasSuffix("export as jsonl\n"))
  }

  @Test func datesAreRoundedDownToSecondsAndThatIsSaid() throws {
    try folder.must("set", "a", "d", "2026-11-20T10:00:00.999Z", "--type", "date")
    try folder.must("set", "a", "whole", "2026-11-20T10:00:00Z", "--type", "date")
    let dates = #"[{"$date":"1969-12-31T23:59:59.500Z"}]"#
    try folder.must("set", "a", "list", dates, "--type", "json")
    let ending = try folder.run(["export", "a", "--format", "plist"])
    #expect(ending.code == 0, "\(ending)")
    #expect(
      ending.stderr == "kvsync: a: dates are rounded down to whole seconds: d, list\n", "\(ending)")
    #expect(
      ending.stdout.split(separator: "\n").filter { $0.contains("<date>") } == [
        "\t<date>2026-11-20T10:00:00Z</date>", "\t\t<date>1969-12-31T23:59:59Z</date>",
        "\t<date>2026-11-20T10:00:00Z</date>",
      ])
  }

  @Test func whatIsExportedIsImportedAgain() throws {
    for (key, value, type) in [
      ("s", "é\r\n\t😀]]>", "string"), ("i", "-9223372036854775808", "integer"),
      ("r", "0.1", "real"), ("n", "nan", "real"), ("m", "-inf", "real"), ("b", "yes", "boolean"),
      ("d", "2026-11-20T10:00:00Z", "date"), ("x", "AAEC", "data"),
      ("j", #"{"a":[1,1.0,true,"1",{"$data":"AA=="},{}],"":[]}"#, "json"),
    ] {
      try folder.must("set", "a", key, "--type", type, "--", value)
    }
    try folder.write(try folder.must("export", "a", "--format", "plist"), to: "p")
    try folder.expect("import", "b", "p", prints: "9 imported, 9 changed\n")
    try folder.expect("diff", "a", "b")
    let depth = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    try folder.must("set", "a", "deep", depth, "--type", "json")
    try folder.write(try folder.must("export", "a", "--format", "plist"), to: "p")
    try folder.must("import", "b", "p")
    try folder.expect("diff", "a", "b")
  }

  // MARK: - Seeding

  @Test func aBundlesGroupIsItsStoreUnlessOneIsNamed() throws {
    try folder.write(
      """
      <plist><dict>
      <key>ApplicationGroupContainerIdentifier</key><string>group.x</string>
      <key>PreferenceSpecifiers</key><array><dict><key>Type</key>
      <string>PSTextFieldSpecifier</string><key>Key</key><string>k</string>
      <key>DefaultValue</key><string>v</string></dict></array>
      </dict></plist>
      """, to: "S.bundle/Root.plist")
    try folder.must("seed", "a", "S.bundle")
    try folder.expect("get", "a", "k", "--store", "defaults:group.x", prints: "v\n")
    try folder.must("seed", "b", "S.bundle", "--store", "defaults")
    try folder.expect("get", "b", "k", "--store", "defaults", prints: "v\n")
    try folder.expect(
      "list", "b", "--defaults", prints: "defaults\tk\tstring\t\"v\"\tdefault, Root.plist:5\n")
  }
}
