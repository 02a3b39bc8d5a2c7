// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `plist --lint --disable …`.
@Suite struct PlistLintTests {
  /// A bundle with two findings.
  private func folder() throws -> Folder {
    let folder = try Folder()
    let row = { (title: String) in
      "<dict><key>Type</key><string>PSToggleSwitchSpecifier</string><key>Title</key>"
        + "<string>\(title)</string><key>Key</key><string>sound</string><key>DefaultValue</key>"
        + "<true/><key>X</key><true/></dict>"
    }
    try folder.write(
      "<plist><dict>\n<key>PreferenceSpecifiers</key>"
        + "<array>\n\(row("Sound"))\n<dict><key>Type</key><string>Custom</string></dict>\n"
        + "</array></dict></plist>", to: "S.bundle/Root.plist")
    return folder
  }

  private let unknown =
    "S.bundle/Root.plist:3:166: warning: a toggle switch has no key \"X\"; remove it"
    + " [unknown-key]\n"
  private let custom =
    "S.bundle/Root.plist:4:22: warning: the Settings app does not show rows of type \"Custom\";"
    + " use one of its types, or ignore this if another program shows the row [unknown-type]\n"

  @Test func disableTakesRulesAway() throws {
    let folder = try folder()
    for (options, found) in [
      ([], unknown + custom), (["--disable", "unknown-key"], custom),
      (["--disable", "unknown-key", "--disable=unknown-type"], ""),
      (["--disable", "missing,unknown-type"], unknown),
    ] as [([String], String)] {
      try folder.expect(
        ["plist", "S.bundle", "--lint"] + options, prints: found, code: found.isEmpty ? 0 : 1)
    }
  }

  @Test func aRuleThatIsNotThereIsAMisuseAndTheOthersAreListed() throws {
    let folder = try folder()
    for (options, name) in [
      (["--disable", "unknown-keys"], "unknown-keys"), (["--disable", "missing,"], ""),
      (["--disable", "wrong-type"], "wrong-type"),
    ] {
      let ending = try folder.run(["plist", "S.bundle", "--lint"] + options)
      #expect(ending.code == 64 && ending.stdout == "", "\(ending)")
      #expect(
        ending.stderr.hasPrefix(
          "kvsync: S.bundle: there is no rule \"\(name)\"; use unknown-type, "), "\(ending)")
      #expect(ending.stderr.hasSuffix("missing\n"), "\(ending)")
    }
    try folder.expect(
      ["plist", "S.bundle", "--disable", "missing"],
      says: "kvsync: S.bundle: --disable belongs to --lint; add that, or leave it out\n",
      code: 64)
  }

  @Test func helpListsTheRules() throws {
    let help = try Folder().must("plist", "--help").replacing("\n", with: " ")
    for rule in ["unknown-key", "missing"] {
      #expect(help.contains(rule))
    }
  }

  // MARK: - Compiled bundles

  private func compile(_ file: String, in folder: Folder) throws {
    let list = try PropertyListSerialization.propertyList(
      from: Data(contentsOf: folder.url(file)), format: nil)
    try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
      .write(to: folder.url(file))
  }

  @Test func aCompiledBundleIsReadLikeItsSource() throws {
    let folder = try folder()
    let tree = try folder.must("plist", "S.bundle", "--describe")
    try compile("S.bundle/Root.plist", in: folder)
    try folder.expect(["plist", "S.bundle", "--describe"], prints: tree)
    try folder.expect(
      ["plist", "S.bundle", "--lint"],
      prints: unknown.replacing(":3:166:", with: ":PreferenceSpecifiers[0].X:")
        + custom.replacing(":4:22:", with: ":PreferenceSpecifiers[1].Type:"), code: 1)
    try folder.expect(
      ["plist", "S.bundle", "--lint", "--disable", "unknown-type", "--json"],
      prints: #"[{"file":"Root.plist","keyPath":"PreferenceSpecifiers[0].X","severity":"warning","#
        + #""rule":"unknown-key","message":"a toggle switch has no key \"X\"; remove it"}]"# + "\n",
      code: 1)
  }

  @Test func aWarningOfACompiledBundleTellsItsKeyPath() throws {
    let folder = try folder()
    let text = try String(contentsOf: folder.url("S.bundle/Root.plist"), encoding: .utf8)
    try folder.write(
      text.replacing("<true/><key>X", with: "<string/><key>X"), to: "S.bundle/Root.plist")
    try compile("S.bundle/Root.plist", in: folder)
    let place = "PreferenceSpecifiers[0].DefaultValue"
    for command in [["seed", "a", "S.bundle"], ["plist", "S.bundle", "--lint"]] {
      let ending = try folder.run(command)
      #expect(ending.code == 65 && ending.stdout == "", "\(ending)")
      #expect(ending.stderr.hasPrefix("kvsync: S.bundle/Root.plist:\(place): "), "\(ending)")
    }
    let ending = try folder.run(["seed", "a", "S.bundle", "--lenient", "--json"])
    #expect(ending.code == 0, "\(ending)")
    #expect(ending.stdout.contains(#""warnings":[{"file":"Root.plist","keyPath":"\#(place)","#))
  }
}
