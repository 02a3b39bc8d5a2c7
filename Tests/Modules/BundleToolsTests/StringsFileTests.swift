// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeBundleTools
import KeepsakeSettingsBundle
import Testing

@Suite struct StringsFileTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A bundle whose title is `t`, in the table `Root`.
  private func writeBundle(_ rows: String..., table: String = "Root") throws {
    let text = pane("").replacing(
      "<dict></dict>", with: rows.map { "<dict>\($0)</dict>" }.joined(separator: "\n"))
    try folder.write(
      text.replacing(
        "<key>Pref", with: "<key>StringsTable</key><string>\(table)</string><key>Pref"),
      to: "Root.plist")
  }

  /// What is shown for `t`, then the warnings.
  private func shown(_ language: String? = nil, _ text: String = "t") throws -> [String] {
    let bundle = try SettingsBundle(at: folder.path)
    let (strings, warnings) = bundle.strings(for: language)
    return [strings.text(text, in: bundle.panes[0])] + warnings.map(\.description)
  }

  private func expect(
    _ bytes: [UInt8], shows expected: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try writeBundle(toggle("a"))
    try folder.write("", to: "en.lproj/Root.strings")
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/en.lproj/Root.strings"))
    #expect(try shown() == expected, sourceLocation: sourceLocation)
  }

  /// The text of a file and what it makes of `t`.
  static let files: [(String, String)] = [
    (#""t" = "T";"#, "T"),
    (#"t=T;"#, "T"),
    (#"t = a/b.c-d_$:1 ;"#, "a/b.c-d_$:1"),
    (#"'t' = 'T';"#, "T"),
    (#""t";"#, "t"),
    (#""x" = "X"; "t" = "é漢😀";"#, "é漢😀"),
    ("/* a \"t\" = 1; */ // b\n\"t\"/**/=//\r\n\"T\"\n;// end", "T"),
    (#""t" = "a\"b\\c\n\t\r\'\z";"#, "a\"b\\c\n\t\r'z"),
    (#""t" = "\U00e9\u00E9\Ud83d\UDE00\U41x";"#, "éé😀Ax"),
    (#""t" = "\101\47\0";"#, "A'\0"),
    ("\"t\" = \"a\nb\";", "a\nb"),
    ("\"t\" = \"\\é\";", "é"),
    (#""t" = "1"; "t" = "2";"#, "1"),
    ("", "t"),
    ("\u{FEFF}\"t\" = \"T\";", "T"),
    ("\u{FEFF}", "t"),
    ("<plist><dict><key>t</key><string>T</string><key>u</key><dict/></dict></plist>", "T"),
  ]

  @Test(arguments: files)
  func fileTranslates(_ text: String, _ expected: String) throws {
    try expect(Array(text.utf8), shows: [expected])
    let units = Array(text.utf16)
    let little = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let big = units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    guard text.utf16.count > 1, !text.hasPrefix("\u{FEFF}") else { return }
    try expect(little, shows: [expected])
    try expect(big, shows: [expected])
    try expect([0xFF, 0xFE] + little, shows: [expected])
    try expect([0xFE, 0xFF] + big, shows: [expected])
  }

  /// The text of a file and the place and start of the complaint.
  static let malformed: [(String, String)] = [
    (#""t" = "T""#, "1:10: the file ends inside a translation"),
    (#""t" = "T" "u" = "U";"#, "1:11: expected ;"),
    (#""t" = ;"#, "1:7: expected a quoted string"),
    ("\n = \"T\";", "2:2: expected a quoted string"),
    (#"{ t = T; }"#, "1:1: expected a quoted string"),
    ("\"t\" = \"T", "1:9: the file ends inside a text, opened at 1:7"),
    ("\"t\" = \"T\\", "1:10: the file ends inside a text, opened at 1:7"),
    ("/* x", "1:5: the file ends inside a comment, opened at 1:1"),
    (#""é" = "\UD83D";"#, "1:8: this escape is an unpaired surrogate"),
    ("\"t\" = \"\u{0}\";", "1:8: the character U+0000 is not allowed"),
    ("bplist00", " at byte 0: this property list is damaged: it is truncated, or has"),
    ("version https://git-lfs.github.com/spec/v1", "1:1: this is a Git LFS pointer"),
    ("<plist><dict>", "1:14: the file ends inside <dict>"),
  ]

  @Test(arguments: malformed)
  func malformedFileIsAWarningAndTranslatesNothing(_ text: String, _ complaint: String) throws {
    try writeBundle(toggle("a"))
    try folder.write(text, to: "en.lproj/Root.strings")
    let result = try shown()
    #expect(result.count == 2 && result.first == "t", "\(result)")
    #expect(result.last?.hasPrefix("en.lproj/Root.strings:\(complaint)") == true, "\(result)")
    #expect(result.last?.contains("; ") == true)
  }

  @Test func bytesThatAreNoTextAreNamed() throws {
    try expect(
      [0xFF, 0xFE, 0x00, 0xD8],
      shows: ["t", "en.lproj/Root.strings:1:1: this is not UTF-16; save the file as UTF-8"])
    try expect(
      Array("\"t\" = \"".utf8) + [0xFF],
      shows: ["t", "en.lproj/Root.strings:1:8: these bytes are not UTF-8; save the file as UTF-8"])
  }

  @Test func everyTruncationIsReadOrNamed() throws {
    let text = Array("\"t\" = \"é\\U00e9\"; /* c */ u;".utf8)
    try writeBundle(toggle("a"))
    try folder.write("", to: "en.lproj/Root.strings")
    for length in text.indices {
      try Data(text[..<length]).write(
        to: URL(fileURLWithPath: folder.path + "/en.lproj/Root.strings"))
      #expect(try shown().count <= 2)
    }
  }

  @Test func languageFallsBackToItsParentsThenEnglishThenBase() throws {
    try writeBundle(toggle("a"))
    for language in ["en", "pt", "pt_BR", "Base", "zh-Hant"] {
      try folder.write("t = \(language);", to: "\(language).lproj/Root.strings")
    }
    let expected = [
      "pt-BR": "pt_BR", "pt": "pt", "pt-PT": "pt", "zh-Hant-TW": "zh-Hant", "zh": "en", "de": "en",
      "EN-gb": "en", "base": "Base",
    ]
    for (language, folder) in expected { #expect(try shown(language) == [folder], "\(language)") }
    #expect(try shown(nil) == ["en"])
    try FileManager.default.removeItem(atPath: folder.path + "/en.lproj")
    #expect(try shown("de") == ["Base"])
    #expect(try SettingsBundle(at: folder.path).languages == ["Base", "pt", "pt_BR", "zh-Hant"])
  }

  @Test func titleWithoutTranslationStandsForItself() throws {
    try writeBundle(toggle("a"))
    try folder.write("x = X;", to: "en.lproj/Root.strings")
    #expect(try shown(nil, "e\u{301}") == ["e\u{301}"])
    try folder.write(pane(toggle("a")), to: "Root.plist")
    #expect(try shown(nil, "x") == ["x"], "no StringsTable, no translation")
  }

  @Test(arguments: ["../Outside", "/etc/passwd", "", "Sub/Root", "Link"])
  func tableOutsideOfItsFolderIsNotRead(_ table: String) throws {
    try writeBundle(toggle("a"), table: table)
    for file in ["Outside.strings", "en.lproj/Sub/Root.strings", "../\(UUID()).strings"] {
      if !file.hasPrefix("..") { try folder.write("t = T;", to: file) }
    }
    try folder.link("en.lproj/Link.strings", to: "/etc/hostname")
    #expect(try shown() == ["t"])
  }

  @Test func compiledStringsTranslate() throws {
    for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let data = try PropertyListSerialization.data(
        fromPropertyList: ["t": "T", "n": ["a": 1]] as [String: Any], format: format, options: 0)
      try expect(Array(data), shows: ["T"])
    }
  }
}
