// SPDX-License-Identifier: Apache-2.0
//
// The parser reads words of eight bytes and blocks of 64: what it looks for may be anywhere in one.

import BundleSupport
import KeepsakeSettingsBundle
import TestSupport
import Testing

@Suite struct AlignmentTests {
  static let head = "<plist>\n<string>"

  @Test(arguments: [
    ("\u{1}", "invalidCharacter"), ("\u{FFFE}", "invalidCharacter"),
    ("&x;", "invalidReference"), ("<b>", "unexpectedElement"),
  ])
  func problemIsFoundAtEachPlaceOfAText(_ problem: String, _ code: String) {
    for length in 0..<200 {
      let text = String(repeating: "a", count: length)
      for tail in ["", text, "é"] {
        let found = refusal("\(Self.head)\(text)\(problem)\(tail)</string></plist>")
        #expect(found == "2:\(9 + length) \(code)", "after \(length)")
      }
    }
  }

  @Test(arguments: ["&gt;", ">", "]]>", "]]&gt;", "é", "\t", "\r\n", "<![CDATA[<]]>", "\u{7F}"])
  func textIsKeptAtEachPlace(_ piece: String) throws {
    let plain =
      piece.replacing("<![CDATA[<]]>", with: "<").replacing("&gt;", with: ">")
    for length in 0..<100 {
      let text = String(repeating: "a", count: length)
      let root = try parse("\(Self.head)\(text)\(piece)\(text)</string></plist>")
      let bytes = Array((text + plain + text).utf8)
      #expect(root.string.map { Array($0.utf8) } == bytes, "after \(length)")
    }
  }

  @Test func keysAreKeptWhateverTheirLengthAndTwiceInNoDictionary() throws {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    // U+212A is canonically equal to K, and has more bytes.
    let pieces = ["a", "b", "K", "\u{212A}", "é", "e\u{301}", "&amp;", "12345678", "-"]
    var refused = 0
    for _ in 0..<2000 * Seeds.factor {
      let keys = (0..<chance.below(20)).map { _ in
        (0..<(1 + chance.below(5))).map { _ in pieces[chance.below(9)] }.joined()
      }
      let body = keys.map { "<key>\($0)</key><true/>" }.joined()
      let isUnique = Set(keys.map { $0.replacing("&amp;", with: "&") }).count == keys.count
      if isUnique {
        let root = try parse(document("<dict>\(body)</dict>"))
        let read = root.members?.map { $0.key.replacing("&", with: "&amp;") }
        #expect(read == keys, "KEEPSAKE_SEED=\(seed)")
      } else {
        refused += 1
        #expect(refusal(document("<dict>\(body)</dict>")).hasSuffix(" duplicateKey"))
      }
    }
    #expect((200..<1800).contains(refused), "KEEPSAKE_SEED=\(seed): \(refused)")
  }

  @Test func shortKeyMayBeLongerThanTheLimit() {
    var limits = PropertyListLimits()
    limits.textBytes = 3
    let keys = ["", "a", "abc", "abcd", "abcdefgh", "abcdefghijklmno"]
    for key in keys {
      let text = document("<dict><key>\(key)</key><true/></dict>")
      #expect(refusal(text, limits: limits) == (key.count > 3 ? "3:7 textTooLong" : "accepted"))
    }
  }
}
