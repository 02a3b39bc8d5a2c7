// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import Testing

/// Where our reading and Foundation's part.
@Suite struct KnownDifferenceTests {
  /// What stands in `<plist>`, or a whole file; what we say; what Foundation makes of it.
  static let differences: [(String, String, String)] = [
    // Refused here, read by Foundation: around the root.
    ("<plist><true/></plist>x", "1:23 contentAfterRoot", "true"),
    ("<plist><plist><true/></plist></plist>", "1:8 unexpectedElement", "true"),
    (
      "<?xml version=\"1.0\" encoding=\"US-ASCII\"?><plist><string>é</string></plist>",
      "1:57 unsupportedEncoding", "\"Ã©\""
    ),
    // Other formats, and no format.
    ("{ a = b; }", "1:1 notXML", "{a:\"b\"}"), ("(a)", "1:1 notXML", "[\"a\"]"),
    ("a", "1:1 notXML", "\"a\""), (" ", "1:1 empty", "{}"),
    // Structure.
    ("<key>a</key>", "3:1 unexpectedElement", "\"a\""),
    ("<array><key>a</key></array>", "3:8 unexpectedElement", "[\"a\"]"),
    (
      "<dict><key>a</key><integer>1</integer><key>a</key><integer>2</integer></dict>",
      "3:39 duplicateKey", "{a:i2}"
    ),
    (
      "<dict><key>é</key><integer>1</integer><key>e\u{301}</key><integer>2</integer></dict>",
      "3:39 duplicateKey", "{é:i2}"
    ),
    // Characters.
    ("<string>\u{1}</string>", "3:9 invalidCharacter", "\"\\u{1}\""),
    ("<string>\u{FFFF}</string>", "3:9 invalidCharacter", "\"\u{FFFF}\""),
    ("<string>&#1;</string>", "3:9 invalidCharacter", "\"\\u{1}\""),
    ("<string>&#0;</string>", "3:9 invalidCharacter", "\"\\u{0}\""),
    // Values.
    ("<real>1e400</real>", "3:1 realOutOfRange", "rinf"),
    ("<real><![CDATA[1]]></real>", "3:7 unexpectedElement", "r1.0"),
    ("<date>2020-13-45T99:99:99Z</date>", "3:1 invalidDate", "t1613623239"),
    ("<data>SGVsbG8</data>", "3:7 invalidData", "d48656c"),
    ("<data>AA*A=</data>", "3:7 invalidData", "d0000"),
    ("<data>AB==</data>", "3:7 invalidData", "d00"),
    // Read here, refused by Foundation.
    ("<integer>1 </integer>", "i1", "refused"), ("<real> 1 </real>", "r1.0", "refused"),
    ("<data/>", "d", "refused"), ("<string>&#x000000041;</string>", "\"A\"", "refused"),
    // Read by both, but not as the same.
    ("<dict><key>CF$UID</key><integer>1</integer></dict>", "{CF$UID:i1}", "_NSKeyedArchiverUID"),
  ]

  @Test(arguments: differences)
  func everyKnownDifferenceToFoundationIsListed(
    _ xml: String, _ ours: String, _ theirs: String
  ) throws {
    let isFile =
      ["<plist", "<!", "<?"].contains(where: xml.hasPrefix) || !xml.hasPrefix("<")
    let text = isFile ? xml : document(xml)
    let refused = refusal(text)
    #expect((refused == "accepted" ? spelled(try parse(text)) : refused) == ours)
    #expect(Self.foundation(text).utf8.elementsEqual(theirs.utf8), "\(Self.foundation(text))")
    #expect(ours != theirs)
  }

  private static func foundation(_ text: String) -> String {
    do {
      return kinds(
        try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil) as Any)
    } catch {
      return "refused"
    }
  }
}
