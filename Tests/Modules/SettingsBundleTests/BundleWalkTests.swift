// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

@Suite struct BundleWalkTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func write(_ files: KeyValuePairs<String, String>) throws {
    for (file, text) in files { try folder.write(text, to: file) }
  }

  /// The same in both modes.
  private func expect(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    for mode in SettingsBundle.Mode.allCases {
      #expect(outcome(folder.path, mode) == expected, sourceLocation: sourceLocation)
    }
  }

  @Test func childPanesSeedWhereTheirRowStands() throws {
    try write([
      "Root.plist": pane(toggle("a"), child("Second"), toggle("d")),
      "Second.plist": pane(toggle("b"), child("Third")), "Third.plist": pane(toggle("c")),
      "Unused.plist": pane(toggle("unused")),
    ])
    expect([
      "a=true Root.plist:6", "b=true Second.plist:6", "c=true Third.plist:6", "d=true Root.plist:8",
    ])
    let bundle = try SettingsBundle(at: folder.path)
    #expect(bundle.paneCount == 3)
    #expect(bundle.panes.map(\.file) == ["Root.plist", "Second.plist", "Third.plist"])
    #expect(bundle.identifier == folder.path.split(separator: "/").last.map(String.init))
  }

  /// `File` and the file that it names.
  static let names = [
    ("Pane", "Pane.plist"), ("Pane.plist", "Pane.plist"), ("About/Pane", "About/Pane.plist"),
    ("About/Pane.plist", "About/Pane.plist"), ("./Pane", "Pane.plist"), ("a//b", "a/b.plist"),
    ("Ünï 😀 %41#?", "Ünï 😀 %41#?.plist"), ("com.example.Pane", "com.example.Pane.plist"),
    ("a..b", "a..b.plist"), ("..a", "..a.plist"), ("x.plist.plist", "x.plist.plist"),
  ]

  @Test(arguments: names)
  func fileNamesAPane(_ name: String, _ file: String) throws {
    try write(["Root.plist": pane(child(name)), file: pane(toggle("a"))])
    expect(["a=true \(file):6"])
  }

  static let escapes = [
    "../Outside", "..", "a/../Pane", "Pane/..", "/etc/passwd", "/", "//Pane", "", ".", ".plist",
    "Pane/", "a/.plist", "./..", "../\u{301}x", "/\u{301}x", "a/../\u{301}x",
  ]

  @Test(arguments: escapes)
  func fileOutsideOfTheBundleIsRefused(_ name: String) throws {
    try write(["b/Root.plist": pane(child(name), toggle("a")), "b/Pane.plist": pane(toggle("p"))])
    try write(["Outside.plist": pane(toggle("outside"))])
    #expect(outcome(folder.path + "/b", .strict) == ["error Root.plist:6:108 invalidPanePath"])
    #expect(
      outcome(folder.path + "/b", .lenient)
        == ["a=true Root.plist:7", "warning Root.plist:6:108"])
  }

  @Test func linkOutOfTheBundleIsRefused() throws {
    try write([
      "b/Root.plist": pane(child("Link"), child("Folder/Outside"), toggle("a")),
      "out/Outside.plist": pane(toggle("outside")), "bb/Outside.plist": pane(toggle("outside")),
    ])
    try folder.link("b/Link.plist", to: "../out/Outside.plist")
    // `bb` starts with the bundle's own path, as text.
    try folder.link("b/Folder", to: folder.path + "/bb")
    #expect(outcome(folder.path + "/b", .strict) == ["error Root.plist:6:108 invalidPanePath"])
    #expect(
      outcome(folder.path + "/b", .lenient)
        == ["a=true Root.plist:8", "warning Root.plist:6:108", "warning Root.plist:7:108"])
  }

  @Test func linkedRootOutsideIsRefused() throws {
    try write(["out/Root.plist": pane(toggle("outside"))])
    try FileManager.default.createDirectory(
      atPath: folder.path + "/b", withIntermediateDirectories: true)
    try folder.link("b/Root.plist", to: "../out/Root.plist")
    #expect(outcome(folder.path + "/b", .lenient) == ["error Root.plist invalidPanePath"])
    // The caller may name a link.
    #expect(
      outcome(folder.path + "/b/Root.plist", .strict) == ["outside=true Root.plist:6"])
  }

  @Test func linkInsideOfTheBundleIsTheSamePane() throws {
    try write(["Root.plist": pane(child("Link"), child("Pane")), "Pane.plist": pane(toggle("a"))])
    try folder.link("Link.plist", to: "Pane.plist")
    expect(["a=true Link.plist:6"])
  }

  @Test func linkedBundleIsReadThroughItsLink() throws {
    try write(["real/Root.plist": pane(child("Pane")), "real/Pane.plist": pane(toggle("a"))])
    try folder.link("Settings.bundle", to: "real")
    #expect(outcome(folder.path + "/Settings.bundle", .strict) == ["a=true Pane.plist:6"])
  }

  @Test func cyclesEndAndPanesAreReadOnce() throws {
    try write([
      "Root.plist": pane(child("A"), child("A"), child("Root"), toggle("r")),
      "A.plist": pane(toggle("a"), child("B"), child("A")),
      "B.plist": pane(child("A"), child("Root.plist"), toggle("b")),
    ])
    expect([
      "a=true A.plist:6", "b=true B.plist:8", "r=true Root.plist:9",
    ])
    #expect(try SettingsBundle(at: folder.path).paneCount == 3)
  }

  @Test func missingPaneIsAWarningInBothModes() throws {
    try write(["Root.plist": pane(child("Gone"), toggle("a"), child("Root/Below"))])
    expect([
      "a=true Root.plist:7", "warning Root.plist:6:108", "warning Root.plist:8:108",
    ])
  }

  @Test func danglingAndCircularLinksAreMissing() throws {
    try write(["Root.plist": pane(child("Dangling"), child("Circle"))])
    try folder.link("Dangling.plist", to: "nowhere")
    try folder.link("Circle.plist", to: "Circle.plist")
    expect(["warning Root.plist:6:108", "warning Root.plist:7:108"])
  }

  @Test func malformedRootIsAnErrorInBothModes() throws {
    try write(["Root.plist": "<plist>\n<dict></plist>"])
    expect(["error Root.plist:2:7 mismatchedTag"])
  }

  @Test func childWithoutSpecifiersIsABrokenPane() throws {
    try write([
      "Root.plist": pane(child("A"), child("B"), child("C"), toggle("a")),
      "A.plist": document("<dict/>"), "B.plist": document("<array/>"),
      "C.plist": document("<dict><key>PreferenceSpecifiers</key><dict/></dict>"),
    ])
    #expect(outcome(folder.path, .strict) == ["error A.plist:3:1 requiredKeyMissing"])
    #expect(
      outcome(folder.path, .lenient)
        == [
          "a=true Root.plist:9", "warning A.plist:3:1", "warning B.plist:3:1",
          "warning C.plist:3:38",
        ])
  }

  static let roots = [
    ("<dict/>", "3:1 requiredKeyMissing"), ("<array/>", "3:1 wrongType"),
    ("<dict><key>PreferenceSpecifiers</key><true/></dict>", "3:38 wrongType"),
  ]

  @Test(arguments: roots)
  func rootWithoutSpecifiersIsAnErrorInBothModes(_ xml: String, _ expected: String) throws {
    try write(["Root.plist": document(xml)])
    expect(["error Root.plist:\(expected)"])
  }

  @Test func equalDefaultsOfOneKeyAreOneSeed() throws {
    try write([
      "Root.plist": pane(toggle("a"), toggle("a"), child("B")), "B.plist": pane(toggle("a")),
    ])
    expect(["a=true Root.plist:6"])
  }

  @Test func conflictingDefaultsNameBothPlaces() throws {
    try write([
      "Root.plist": pane(toggle("a"), child("B"), toggle("b")),
      "B.plist": pane("", toggle("a", "<false/>")).replacing("<dict></dict>\n", with: "\n"),
    ])
    #expect(outcome(folder.path, .strict) == ["error B.plist:7:151 conflictingDefaults"])
    #expect(
      outcome(folder.path, .lenient)
        == [
          "a=true Root.plist:6", "b=true Root.plist:8", "warning B.plist:7:151",
        ])
    let warning = try SettingsBundle(at: folder.path, mode: .lenient).warnings.first
    #expect(warning?.message.contains(#"the key "a" has another default at Root.plist:6;"#) == true)
  }

  @Test func keysAreComparedByBytes() throws {
    try write(["Root.plist": pane(toggle("é"), toggle("e\u{301}", "<false/>"))])
    #expect(try SettingsBundle(at: folder.path).seeds.count == 2)
  }

  // MARK: - Limits

  private func chain(_ count: Int) throws {
    try folder.write(pane(child("1")), to: "Root.plist")
    for index in 1..<count {
      let rows = index + 1 < count ? pane(child("\(index + 1)")) : pane(toggle("deepest"))
      try folder.write(rows, to: "\(index).plist")
    }
  }

  @Test(arguments: SettingsBundle.Mode.allCases, [-1, 0, 1])
  func paneDepthEndsAtTheLimit(_ mode: SettingsBundle.Mode, _ over: Int) throws {
    try chain(16 + over)
    let result = outcome(folder.path, mode)
    #expect(
      result
        == (over > 0
          ? ["error 15.plist:6:108 panesTooDeep"] : ["deepest=true \(15 + over).plist:6"]))
  }

  @Test(arguments: SettingsBundle.Mode.allCases, [-1, 0, 1])
  func paneCountEndsAtTheLimit(_ mode: SettingsBundle.Mode, _ over: Int) throws {
    try write([
      "Root.plist": pane(child("A"), child("B"), child("A")), "A.plist": pane(), "B.plist": pane(),
    ])
    var limits = SettingsBundle.Limits()
    limits.panes = 3 - over
    let expected = over > 0 ? ["error Root.plist:7:108 tooManyPanes"] : []
    #expect(outcome(folder.path, mode, limits: limits) == expected)
  }

  /// A tool writes one pane for each package that an application uses.
  @Test(arguments: SettingsBundle.Mode.allCases)
  func aThousandLicensePanesThreeDeepAreRead(_ mode: SettingsBundle.Mode) throws {
    try folder.write(pane(child("About")), to: "Root.plist")
    let names = (0..<1000).map { "About/\($0)" }
    try folder.write(
      pane(names.map(child).joined(separator: "</dict><dict>")), to: "About.plist")
    for name in names {
      try folder.write(
        pane(members("PSGroupSpecifier", ["FooterText": "<string>\(name)</string>"])),
        to: "\(name).plist")
    }
    #expect(try SettingsBundle(at: folder.path, mode: mode).paneCount == 1002)
  }

  @Test(arguments: SettingsBundle.Mode.allCases)
  func theBytesAndElementsOfAllPanesEndAtTheirLimits(_ mode: SettingsBundle.Mode) throws {
    try write(["Root.plist": pane(child("A"), child("B")), "A.plist": pane(), "B.plist": pane()])
    let size = pane(child("A"), child("B")).utf8.count + pane().utf8.count
    var limits = SettingsBundle.Limits()
    for (bytes, expected) in [(size + 1, []), (size, ["error Root.plist:7:108 fileTooLarge"])] {
      limits.bytes = bytes
      #expect(outcome(folder.path, mode, limits: limits) == expected)
    }
    limits = SettingsBundle.Limits()
    // A root, its key, its array, two rows of three keys and values; and a pane of three.
    for (elements, expected) in [
      (21, []), (20, ["error Root.plist:7:108 tooManyElements"]),
    ] {
      limits.elements = elements
      #expect(outcome(folder.path, mode, limits: limits) == expected)
    }
  }

  @Test(arguments: [-1, 0, 1])
  func fileSizeIsCheckedForEachPane(_ over: Int) throws {
    let text = pane(toggle("a"))
    try write(["Root.plist": pane(child("A")), "A.plist": text])
    var limits = SettingsBundle.Limits()
    limits.file.bytes = text.utf8.count - over
    let expected = over > 0 ? ["error A.plist fileTooLarge"] : ["a=true A.plist:6"]
    #expect(outcome(folder.path, .strict, limits: limits) == expected)
  }

  @Test func aChildThatIsNotWellFormedIsAWarningWhenLenientAndItsSiblingsSeed() throws {
    try write([
      "Root.plist": pane(child("A"), child("B"), child("A")), "A.plist": "<?xml version=1.0>",
      "B.plist": pane(toggle("b")),
    ])
    #expect(outcome(folder.path, .strict) == ["error A.plist:1:19 unexpectedEnd"])
    let lenient = try SettingsBundle(at: folder.path, mode: .lenient)
    #expect(lenient.seeds.map(\.key) == ["b"])
    #expect(lenient.warnings.map { String($0.description.prefix(12)) } == ["A.plist:1:19"])
  }
}
