// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import Testing

@Suite struct RefusedInputTests {
  /// A value in the usual wrapping, which starts at 3:1, and the refusal.
  static let values: [(String, String)] =
    [
      ("", "4:1 missingValue"), ("<true/><false/>", "3:8 contentAfterRoot"),
      ("<true/>text", "3:8 unexpectedText"), ("text", "3:1 unexpectedText"),
      ("&amp;", "3:1 unexpectedText"), ("<![CDATA[x]]>", "3:1 malformedTag"),
      ("<String>a</String>", "3:1 unexpectedElement"),
      ("<number>1</number>", "3:1 unexpectedElement"),
      ("<x:string>1</x:string>", "3:1 unexpectedElement"),
      ("<plist><true/></plist>", "3:1 unexpectedElement"), ("<>", "3:1 malformedTag"),
      ("< true/>", "3:1 malformedTag"), ("<true/ >", "3:6 malformedTag"),
      ("<true", "4:1 malformedTag"), ("<true\"/>", "3:6 malformedTag"),
      ("<array><true <false/></array>", "3:14 malformedTag"),
      ("<!DOCTYPE plist><true/>", "3:1 malformedTag"),
      ("<?a><true/>", "4:9 unexpectedEnd"), ("<!---><true/>", "4:9 unexpectedEnd"),
      ("<!- x --><true/>", "3:1 malformedTag"),
      ("<string>a</string a>", "3:19 malformedTag"), ("<string>a</sting>", "3:10 mismatchedTag"),
      ("<string>a</strings>", "3:10 mismatchedTag"), ("<string>a</key>", "3:10 mismatchedTag"),
      ("<array></dict>", "3:8 mismatchedTag"), ("<dict></array>", "3:7 mismatchedTag"),
      ("</true>", "3:1 mismatchedTag"), ("<array><true/>", "4:1 mismatchedTag"),
      ("<true></false>", "3:7 mismatchedTag"), ("<string>a</ string>", "3:10 mismatchedTag"),
      ("<string>a & b</string>", "3:11 invalidReference"),
      ("<string>é&nbsp;</string>", "3:10 invalidReference"),
      ("<string>a < b</string>", "3:11 unexpectedElement"),
      ("<string><![cdata[a]]></string>", "3:9 unexpectedElement"),
      ("<true> </true>", "3:7 invalidBoolean"), ("<true>1</true>", "3:7 invalidBoolean"),
      ("<false><!-- --></false>", "3:8 invalidBoolean"), ("<True/>", "3:1 unexpectedElement"),
      ("<integer/>", "3:1 invalidInteger"), ("<integer>&#49;</integer>", "3:10 unexpectedElement"),
      ("<integer><![CDATA[1]]></integer>", "3:10 unexpectedElement"),
      ("<real/>", "3:1 invalidReal"), ("<real>-1e400</real>", "3:1 realOutOfRange"),
      ("<date/>", "3:1 invalidDate"), ("<array>text</array>", "3:8 unexpectedText"),
      ("<dict>text</dict>", "3:7 unexpectedText"), ("<dict><true/></dict>", "3:7 missingKey"),
      ("<dict><key>a</key></dict>", "3:19 missingValue"),
      ("<dict><key>a</key><key>b</key><true/></dict>", "3:19 missingValue"),
      ("<dict><key>a</key><true/><true/></dict>", "3:26 missingKey"),
      ("<dict><key>a<b/></key><true/></dict>", "3:13 unexpectedElement"),
      ("<dict><key>a</key>x<true/></dict>", "3:19 unexpectedText"),
    ]
    + contents.flatMap { element, expected, texts in
      texts.map { ("<\(element)>\($0)</\(element)>", expected) }
    }

  /// An element, the refusal, and contents of it.
  private static let contents: [(String, String, [String])] = [
    (
      "string", "3:9 invalidReference",
      [
        "&;", "&lt", "&LT;", "&nbsp;", "&#;", "&#x;", "&#X41;", "&#4F;", "&#-1;", "&#65",
      ]
    ),
    (
      "string", "3:9 invalidCharacter",
      [
        "&#0;", "&#8;", "&#x1F;", "&#xD800;", "&#xDFFF;", "&#xFFFE;", "&#xFFFF;", "&#x110000;",
        "&#99999999999999999999;", "&#4294967361;", "\u{1B}", "\u{FFFF}",
      ]
    ),
    ("string", "3:10 invalidCharacter", ["a\u{0}b", "a\u{8}b", "é\u{FFFE}"]),
    ("string", "3:10 unexpectedElement", ["a<b/>", "a<!-- c -->", "a<?pi?>"]),
    (
      "integer", "3:1 invalidInteger",
      [
        "", " ", "-", "+-1", "- 1", "1 2", "1.0", "1e3", "0x", "0xG", "FF", "1_000", "٣", "YES",
      ]
    ),
    (
      "integer", "3:1 integerOutOfRange",
      [
        "18446744073709551616", "-9223372036854775809", "0x10000000000000000",
        "99999999999999999999999999",
      ]
    ),
    (
      "real", "3:1 invalidReal",
      [
        " ", ".", "1,5", "1e", "1e+", "0x1p3", "1.5f", "--1", "nan(1)", "-nan", "infinit",
      ]
    ),
    (
      "date", "3:1 invalidDate",
      [
        "2020-01-01", " 2020-01-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-01T00:00:00z",
        "2020-01-01 00:00:00Z", "2020-01-01T00:00:00+00:00", "2020-01-01T00:00:00.000Z",
        "-020-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "2020-00-01T00:00:00Z",
        "2020-13-01T00:00:00Z", "2020-01-00T00:00:00Z", "2020-04-31T00:00:00Z",
        "2021-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2020-01-01T24:00:00Z",
        "2020-01-01T00:60:00Z", "2020-01-01T00:00:60Z",
      ]
    ),
    (
      "data", "3:7 invalidData",
      ["A", "AA=", "=", "AA\n*A", "é", "A===", "A-A=", "AA===", "AA==AA==", "AAB="]
    ),
    (
      "dict", "4:1 duplicateKey",
      [
        "<key>a</key><true/>\n<key>a</key><true/>",
        "<key>é</key><true/>\n<key>e\u{301}</key><true/>",
        "<key>a&amp;</key><true/>\n<key>a&#38;</key><true/>", "<key/><true/>\n<key></key><true/>",
      ]
    ),
  ]

  @Test(arguments: values)
  func valueIsRefusedAtItsPlace(_ xml: String, _ expected: String) {
    #expect(refusal(document(xml)) == expected)
  }

  static let documents: [(String, String)] = [
    ("", "1:1 empty"), (" \n\t\r\n", "1:1 empty"), ("\u{FEFF}", "1:1 empty"),
    ("<true/>", "1:1 unexpectedElement"), ("<dict></dict>", "1:1 unexpectedElement"),
    ("<!DOCTYPE html>\n<html></html>", "2:1 unexpectedElement"),
    ("<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<!--é--><plist/>", "2:5 unsupportedEncoding"),
    ("<plists><true/></plists>", "1:1 unexpectedElement"), ("<plist/>", "1:7 missingValue"),
    ("<plist></plist>", "1:8 missingValue"),
    ("<plist><true/></plist><plist><true/></plist>", "1:23 contentAfterRoot"),
    ("<plist><true/></plist>\n<!DOCTYPE plist>", "2:1 contentAfterRoot"),
    ("<plist><true/></plist>\n<!-- ", "2:6 unexpectedEnd"),
    ("<plist><true/></plist>\u{0}", "1:23 invalidCharacter"),
    ("<plist><true/></plist x>", "1:23 malformedTag"),
    ("<plist><true/></plists>", "1:15 mismatchedTag"),
    ("<plistversion=\"1.0\"><true/></plist>", "1:1 unexpectedElement"),
    ("<plist", "1:7 malformedTag"), ("<plist>", "1:8 unexpectedEnd"),
    ("<plist><array>", "1:15 unexpectedEnd"), ("<plist><string>abc", "1:19 unexpectedEnd"),
    ("<plist><true/></plist", "1:22 malformedTag"),
    ("<!-- only a comment -->", "1:24 unexpectedElement"),
    ("<!-- x --> y <plist><true/></plist>", "1:12 unexpectedElement"),
    ("<?xml version=\"1.0\"><plist/>", "1:29 unexpectedEnd"),
    (
      "<?xml version=\"1.0\" encoding=\"windows-1252\"?><plist><string>é</string></plist>",
      "1:61 unsupportedEncoding"
    ),
    ("<!doctype plist><plist/>", "1:1 unexpectedElement"),
    ("<!DOCTYPE plist SYSTEM \"a", "1:26 unexpectedEnd"),
    ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>", "1:17 internalSubset"),
    ("<!DOCTYPE plist SYSTEM \"a\" [ ]><plist/>", "1:28 internalSubset"),
    ("<!DOCTYPE plist><!DOCTYPE plist><plist/>", "1:17 unexpectedElement"),
    ("{ a = 1; }", "1:1 notXML"), ("// comment\n{ }", "1:1 notXML"),
    ("\n  {\"a\": 1}", "2:3 notXML"), ("key = value", "1:1 notXML"),
    ("bplist00\u{0}\u{1}", "- malformedBinary"),
  ]

  @Test(arguments: documents)
  func documentIsRefusedAtItsPlace(_ text: String, _ expected: String) {
    #expect(refusal(text) == expected)
  }

  static let bytes: [([UInt8], String)] = [
    ([0xFF, 0xFE, 0x3C], "1:1 unsupportedEncoding"),
    ([0xFF, 0xFE, 0x00, 0xD8], "1:1 unsupportedEncoding"),
    ([0xFF, 0xFE, 0x00, 0x00, 0x3C, 0, 0], "1:1 unsupportedEncoding"),
    ([0x00, 0x00, 0xFE, 0xFF, 0, 0x11, 0, 0], "1:1 unsupportedEncoding"),
    ([0x3C, 0x00, 0x3F, 0x00], "1:1 unsupportedEncoding"),
    ([0x00, 0x7B, 0x00, 0x7D], "1:1 unsupportedEncoding"),
    ([0xFE, 0xFF], "1:1 unsupportedEncoding"),
  ]

  @Test(arguments: bytes)
  func wideTextIsRefusedAtItsPlace(_ bytes: [UInt8], _ expected: String) {
    #expect(refusal(bytes) == expected)
  }

  /// Sequences that are not UTF-8; each stands behind `<string>é`.
  static let malformed: [[UInt8]] = [
    [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80],
    [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80],
    [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
    [0xF0, 0x9F, 0x28, 0x80], [0xF0, 0x9F, 0x98, 0x28], [0xF4, 0x90, 0x80, 0x80],
    [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
  ]

  @Test(arguments: malformed)
  func malformedUTF8IsRefused(_ sequence: [UInt8]) {
    let head = Array("<plist>\n<string>é".utf8)
    let tail = Array("</string></plist>".utf8)
    #expect(refusal(head + sequence + tail) == "2:10 invalidUTF8")
    #expect(refusal(head + sequence) == "2:10 invalidUTF8")
  }

  @Test(arguments: [7, 8, 9, 30])
  func duplicateIsFoundAmongAnyNumberOfKeys(_ count: Int) {
    let members = (0..<count).map { "<key>\($0)</key><true/>" }.joined()
    for key in [0, count - 1] {
      let body = "<dict>\(members)\n<key>\(key)</key><true/></dict>"
      #expect(refusal(document(body)) == "4:1 duplicateKey")
    }
    let accented = "<dict><key>é</key><true/>\(members)\n<key>e\u{301}</key><true/></dict>"
    #expect(refusal(document(accented)) == "4:1 duplicateKey")
    let last = "<dict><key>é</key><true/>\(members)\n<key>\(count - 1)</key><true/></dict>"
    #expect(refusal(document(last)) == "4:1 duplicateKey")
  }
}
