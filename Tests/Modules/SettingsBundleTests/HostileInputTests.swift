// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import Testing

@Suite struct HostileInputTests {
  /// All kinds, so that a cut falls everywhere in the grammar.
  static let fixtures: [String] = [
    "<plist><true/></plist>",
    document("<dict><key>a</key><string>é&amp;😀</string><key>b</key><data>AAAA</data></dict>"),
    document(
      "<array><integer>-12</integer><real>1.5e3</real><date>2020-01-01T00:00:00Z</date></array>"),
    document("<string>x<![CDATA[<&]]>y&#x41;&#65;</string>"),
    "\u{FEFF}<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\r\n"
      + "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/x.dtd\">"
      + "<!-- comment --><?pi text?><plist version=\"1.0\"><true></true><!-- --></plist>",
    document(
      """
      <dict>
        <key>PreferenceSpecifiers</key>
        <array>
          <dict>
            <key>Type</key><string>PSToggleSwitchSpecifier</string>
            <key>DefaultValue</key><false  />
          </dict>
        </array>
      </dict>
      """),
    document("<string>a<![CDATA[]]]]><![CDATA[>]]></string>"),
    document("<array><array/><array><dict/></array><dict></dict></array>"),
    document("<dict><key/><true/><key>&lt;</key><false></false></dict>"),
    document("<dict><key>a</key><dict><key>a</key><dict><key>a</key><data/></dict></dict></dict>"),
    document("<integer>\n 0x7fffffffffffffff\n</integer>"),
    document("<integer>18446744073709551615</integer>"),
    document("<real>-1.7976931348623157e+308</real>"),
    document("<array><real>nan</real><real>+Infinity</real></array>"),
    document("<date>9999-12-31T23:59:59Z</date>"), document("<data>\n\tAAAA\n\tAA==\n</data>"),
    document("<string>e\u{301}\u{10FFFF}&#x10FFFF;\r\n</string>"),
    "\n \t<?xml version = '1.0' standalone = 'no'?><!-- - --><?a b?><plist ><true /></plist >",
    "<!DOCTYPE plist><plist version=''><array><!----><true/><?x?></array></plist>\r\n<!-- -->",
    "<!DOCTYPE plist SYSTEM '<' ><plist\nversion\n=\n\"1.0\"\n>\n<true\n/>\n</plist\n>",
  ]

  @Test(arguments: fixtures)
  func everyTruncationIsAnError(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(refusal(bytes) == "accepted")
    let complete = text.utf8.count - (text.hasSuffix("\r\n<!-- -->") ? 10 : 0)
    for length in 0..<complete {
      #expect(refusal(Array(bytes[..<length])) != "accepted", "the first \(length) bytes")
    }
  }

  static let entities: [(String, String)] = [
    (
      """
      <!DOCTYPE plist [
      <!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
      <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><plist><string>&c;</string></plist>
      """, "1:17 internalSubset"
    ),
    (
      "<!DOCTYPE plist [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
        + "<plist><string>&x;</string></plist>",
      "1:17 internalSubset"
    ),
    (
      "<!DOCTYPE plist SYSTEM \"file:///etc/passwd\" [<!ENTITY % p SYSTEM \"http://x/\"> %p;]>"
        + "<plist/>",
      "1:45 internalSubset"
    ),
    (
      "<!DOCTYPE plist SYSTEM \"file:///etc/passwd\"><plist><string>&root;</string></plist>",
      "1:60 invalidReference"
    ),
    ("<plist><!ENTITY a \"b\"><string>&a;</string></plist>", "1:8 malformedTag"),
  ]

  @Test(arguments: entities)
  func nothingIsExpandedOrFetched(_ text: String, _ expected: String) {
    #expect(refusal(text) == expected)
  }

  /// `¦` is a run of combining marks, in the markup itself.
  @Test(
    arguments: [
      ("<?xml version=\"¦\"?><plist/>", "missingValue"),
      ("<?xml version=\"1.0\" encoding=\"¦\"?><¦/>", "unsupportedEncoding"),
      ("<plist version=\"¦\"><¦/></plist>", "unexpectedElement"),
      ("<!DOCTYPE ¦><plist/>", "missingValue"), ("<?¦?><plist/>", "missingValue"),
      ("<plist><string>&¦;</string></plist>", "invalidReference"),
      ("<plist><real>¦</real></plist>", "invalidReal"),
      ("<plist><string>a</¦></plist>", "mismatchedTag"),
      ("<plist><dict></¦></plist>", "mismatchedTag"),
    ])
  func markupWithARunOfMarksCostsNoTime(_ text: String, _ code: String) throws {
    try expectLittleWork { #expect(refusal(CombiningMarks.bytes(of: text)).hasSuffix(code)) }
  }
}
