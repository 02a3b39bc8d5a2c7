// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct PlistTests {
  private func folder(_ rows: String...) throws -> Folder {
    let folder = try Folder()
    try folder.write(
      "<plist><dict><key>PreferenceSpecifiers</key><array>\n"
        + rows.map { "<dict>\($0)</dict>\n" }.joined() + "</array></dict></plist>",
      to: "S.bundle/Root.plist")
    return folder
  }

  private func row(_ type: String, _ rest: String) -> String {
    "<key>Type</key><string>PS\(type)Specifier</string>" + rest
  }

  private let toggle =
    "<key>Type</key><string>PSToggleSwitchSpecifier</string><key>Title</key><string>Sound</string>"
    + "<key>Key</key><string>sound</string><key>DefaultValue</key><true/>"

  // MARK: - Printing

  private let values = """
    <plist><dict>
    <key>b</key><array><true/><date>2026-11-20T10:00:00Z</date><data>AAE=</data><array/></array>
    <key>a</key><integer>18446744073709551615</integer>
    <key>t\tb</key><dict><key>$x</key><real>nan</real></dict>
    <key>n</key><array><integer>18446744073709551615</integer></array>
    </dict></plist>
    """

  @Test func aTreeIsPrintedInTheOrderOfTheFile() throws {
    let folder = try Folder()
    try folder.write(values, to: "p")
    try folder.expect(
      "plist", "p",
      prints: """
        dictionary
          b: array
            0: boolean true
            1: date "2026-11-20T10:00:00.000Z"
            2: data "AAE="
            3: array
          a: integer 18446744073709551615
          "t\\tb": dictionary
            $x: real "nan"
          n: array
            0: integer 18446744073709551615

        """)
    try folder.expect(
      "plist", "p", "--json",
      prints: #"{"b":[true,{"$date":"2026-11-20T10:00:00.000Z"},{"$data":"AAE="},[]],"#
        + #""a":{"$integer":"18446744073709551615"},"t\tb":{"$dictionary":{"$x":{"$real":"nan"}}},"#
        + #""n":[{"$integer":"18446744073709551615"}]}"# + "\n")
  }

  @Test(arguments: [
    ("<date>2026-11-20T10:00:00Z</date>", #"{"$date":"2026-11-20T10:00:00.000Z"}"#),
    ("<true/>", "true"),
  ])
  func aRootThatIsNoContainerKeepsItsType(_ value: String, _ json: String) throws {
    let folder = try Folder()
    try folder.write("<plist>\(value)</plist>", to: "p")
    try folder.expect("plist", "p", "--json", prints: json + "\n")
  }

  @Test func aBundleStandsForItsRoot() throws {
    let folder = try folder(toggle)
    #expect(
      try folder.must("plist", "S.bundle") == folder.must("plist", "S.bundle/Root.plist"))
  }

  @Test(arguments: ["--lint", "--describe"])
  func aTableOfDefaultsIsNotTakenForAPaneInSilence(_ option: String) throws {
    let folder = try Folder()
    try folder.write(defaultsTable, to: "table.plist")
    let ending = try folder.run(["plist", "table.plist", option])
    #expect(ending.code == 0)
    #expect(
      ending.stderr == "kvsync: table.plist: it has no PreferenceSpecifiers, so it was read as a "
        + "table of defaults, not as a pane\n")
    #expect(try folder.run(["plist", "table.plist", option, "--quiet"]).stderr.isEmpty)
  }

  @Test func whatIsNoPropertyListIsRefused() throws {
    let folder = try Folder()
    try folder.write("bplist00", to: "b")
    try folder.write("<plist>\n<dict>", to: "p")
    try folder.write("", to: "huge")
    try folder.shell("truncate", "-s", "1G", "huge")
    for (file, complaint, code) in [
      ("gone", "there is no such file; check the path", 66),
      ("b", "at byte 0: this property list is damaged: it is truncated", 65), ("p", ":2:7: ", 65),
      ("huge", "larger than the limit", 65),
    ] as [(String, String, Int32)] {
      for option in [[], ["--json"], ["--lint"], ["--describe"]] {
        let ending = try folder.run(["plist", file] + option)
        #expect(ending.code == code && ending.stdout == "", "\(ending)")
        #expect(ending.stderr.hasPrefix("kvsync: \(file):"), "\(ending)")
        #expect(ending.stderr.contains(complaint), "\(ending)")
      }
    }
  }

  @Test(arguments: [
    ["--lint", "--describe"], ["--lenient"], ["--describe", "--lenient"],
    ["--idiom", "pad", "--lint"],
  ])
  func optionsThatDoNotGoTogetherAreRefused(_ options: [String]) throws {
    let ending = try folder(toggle).run(["plist", "S.bundle"] + options)
    #expect(ending.code == 64 && ending.stdout == "", "\(ending)")
    #expect(ending.stderr.hasPrefix("kvsync: S.bundle: ") && ending.stderr.contains("; "))
  }

  // MARK: - Lint

  @Test func aGoodBundleHasNothingToList() throws {
    let folder = try folder(toggle)
    try folder.expect("plist", "S.bundle", "--lint")
    try folder.expect("plist", "S.bundle", "--lint", "--json", prints: "[]\n")
  }

  @Test func warningsAreListedAndTheAnswerIsNo() throws {
    let other = toggle.replacing(">sound<", with: ">s<") + "<key>X</key><true/>"
    let folder = try folder(toggle + "<key>Colour</key><true/>", other)
    let odd = #"a toggle switch has no key "Colour"; remove it"#
    let second = #"a toggle switch has no key "X"; remove it"#
    try folder.expect(
      "plist", "S.bundle", "--lint",
      prints: "S.bundle/Root.plist:2:166: warning: \(odd) [unknown-key]\n"
        + "S.bundle/Root.plist:3:162: warning: \(second) [unknown-key]\n", code: 1)
    func json(_ line: Int, _ column: Int, _ rule: String, _ message: String) -> String {
      #"{"file":"Root.plist","line":\#(line),"column":\#(column),"severity":"warning","#
        + #""rule":"\#(rule)","message":"\#(message.replacing("\"", with: "\\\""))"}"#
    }
    try folder.expect(
      "plist", "S.bundle", "--lint", "--json",
      prints: "[\(json(2, 166, "unknown-key", odd)),\(json(3, 162, "unknown-key", second))]\n",
      code: 1)
    let ofFile = try folder.run(["plist", "S.bundle/Root.plist", "--lint"])
    #expect(ofFile.stdout.hasPrefix("S.bundle/Root.plist:2:166: warning: "))
  }

  @Test func anErrorIsAFailureAndLenientlyOneOfTheFindings() throws {
    let bad = toggle.replacing("<true/>", with: "<string/>")
    let folder = try folder(bad, toggle.replacing(">sound<", with: ">s<") + "<key>X</key><true/>")
    let error =
      "S.bundle/Root.plist:2:159: error: the DefaultValue of the toggle switch \"sound\","
      + " a string, is neither its TrueValue nor its FalseValue;"
      + " use one of them, of the same type"
      + " [default-not-among-values]"
    let says = "kvsync: \(error); 1 more with --lenient\n"
    try folder.expect("plist", "S.bundle", "--lint", says: says, code: 65)
    try folder.expect("plist", "S.bundle", "--lint", "--json", says: says, code: 65)
    try folder.expect(
      "plist", "S.bundle", "--lint", "--lenient",
      prints: error + "\nS.bundle/Root.plist:3:162: warning: a toggle switch has no key \"X\";"
        + " remove it [unknown-key]\n", code: 1)
    let json = try folder.run(["plist", "S.bundle", "--lint", "--lenient", "--json"])
    #expect(json.code == 1 && json.stdout.contains(#""severity":"error""#))
  }

  // MARK: - Describing

  @Test func aBundleIsDescribedAsATree() throws {
    let key = { (name: String) in
      "<key>Title</key><string>\(name)</string><key>Key</key><string>k</string>"
    }
    let choices =
      "<key>DefaultValue</key><integer>2</integer><key>Values</key><array><integer>1</integer>"
      + "<integer>2</integer></array><key>Titles</key><array><string>Low</string>"
      + "<string>High</string></array>"
    let folder = try folder(
      toggle,
      row(
        "Group", "<key>Title</key><string>More</string><key>FooterText</key><string>F\nG</string>"),
      row("TextField", key("Name")),
      row("TextField", key("Pin") + "<key>IsSecure</key><true/>"),
      row(
        "Slider",
        key("Volume") + "<key>DefaultValue</key><real>0.5</real><key>MinimumValue</key>"
          + "<integer>0</integer><key>MaximumValue</key><integer>1</integer>"),
      row("MultiValue", key("Quality") + choices),
      row("TitleValue", key("Version") + choices),
      row("RadioGroup", key("Radio") + choices),
      row("ChildPane", "<key>Title</key><string>Deep</string><key>File</key><string>Deep</string>"),
      row("ChildPane", "<key>Title</key><string>Root</string><key>File</key><string>Root</string>"),
      row("ChildPane", "<key>Title</key><string>Gone</string><key>File</key><string>Gone</string>"),
      "<key>Type</key><string>Odd</string>" + key("Odd"))
    try folder.write(
      "<plist><dict><key>PreferenceSpecifiers</key><array><dict>\(toggle)</dict></array>"
        + "</dict></plist>",
      to: "S.bundle/Deep.plist")
    let tree = """
      S.bundle
        --
          [x] Sound  (sound)
        -- More --
          Name: ""  (k)
          Pin: ***  (k)
          Volume: 0.5 from 0 to 1  (k)
          Quality: High  (k)
            ( ) Low = 1
            (*) High = 2
          Version: High  (k)
          "F\\nG"
        -- Radio --
          ( ) Low = 1
          (*) High = 2
          Deep > Deep.plist
            --
              [x] Sound  (sound)
          Root > Root.plist, shown above
          Gone > a pane that does not exist
          Odd: ?  not shown, a Odd  (k)

      """
    let ending = try folder.run(["plist", "S.bundle", "--describe"])
    #expect(ending.stdout == tree)
    #expect(ending.code == 0)
    #expect(ending.stderr.hasPrefix("kvsync: S.bundle/Root.plist:"), "the missing pane")
    #expect(ending.stderr.hasSuffix("add it, or remove this row\n"))
  }

  @Test func aDescriptionIsOneJSONValue() throws {
    let folder = try folder(
      toggle
        + "<key>SupportedUserInterfaceIdioms</key><array><string>Pad</string></array>",
      row("ChildPane", "<key>Title</key><string>P</string><key>File</key><string>P</string>"))
    try folder.write(
      "<plist><dict><key>PreferenceSpecifiers</key><array/></dict></plist>",
      to: "S.bundle/P.plist")
    let pane =
      #"{"type":"PSChildPaneSpecifier","title":"P","#
      + #""pane":{"title":"P","file":"P.plist","groups":[]}}"#
    let toggle =
      #"{"type":"PSToggleSwitchSpecifier","title":"Sound","key":"sound","default":true,"#
      + #""idioms":["Pad"]}"#
    func json(_ rows: String) -> String {
      #"{"file":"Root.plist","groups":[{"rows":[\#(rows)]}]}"# + "\n"
    }
    try folder.expect(
      "plist", "S.bundle", "--describe", "--json", prints: json(toggle + "," + pane))
    try folder.expect(
      "plist", "S.bundle", "--describe", "--json", "--idiom", "phone", prints: json(pane))
  }

  @Test func theDefaultOfASecureFieldIsNotPrinted() throws {
    let field = "<key>Key</key><string>pin</string><key>IsSecure</key><true/>"
    let folder = try folder(
      row("TextField", field + "<key>DefaultValue</key><string>1234</string>"))
    for option in [[], ["--json"]] {
      let ending = try folder.run(["plist", "S.bundle", "--describe"] + option)
      #expect(ending.stdout.contains("***") && !ending.stdout.contains("1234"), "\(ending)")
    }
  }
}
