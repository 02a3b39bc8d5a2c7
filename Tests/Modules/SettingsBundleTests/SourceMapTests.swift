// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import TestSupport
import Testing

@Suite struct SourceMapTests {
  static let breaks = ["\n", "\r", "\r\n"]

  /// A text and the place of its end.
  static let ends: [(String, String)] = [
    ("", "1:1"), ("a", "1:2"), ("\n", "2:1"), ("\r", "2:1"), ("\r\n", "2:1"), ("\n\r", "3:1"),
    ("\r\r\n", "3:1"), ("a\nb", "2:2"), ("é", "1:2"), ("e\u{301}", "1:3"), ("😀漢", "1:3"),
    ("\u{FEFF}", "1:1"), ("\u{FEFF}a", "1:2"), ("a\u{FEFF}", "1:3"), ("\u{85}\u{2028}", "1:3"),
    ("\t", "1:2"), ("\r\n\r\n", "3:1"), ("\n\u{FEFF}", "2:2"),
  ]

  @Test(arguments: ends)
  func endIsAfterTheLastScalar(_ text: String, _ expected: String) {
    let bytes = Array(text.utf8)
    #expect("\(SourceMap(bytes).position(of: bytes.count))" == expected)
  }

  @Test func lineFeedOfAPairIsStillOnItsLine() {
    let map = SourceMap(Array("ab\r\ncd".utf8))
    #expect(
      (0...6).map { "\(map.position(of: $0))" }
        == ["1:1", "1:2", "1:3", "1:4", "2:1", "2:2", "2:3"])
  }

  @Test func offsetsOutsideAreTheEnds() {
    let map = SourceMap(Array("ab".utf8))
    #expect(map.position(of: -1).column == 1)
    #expect(map.position(of: 99).column == 3)
  }

  /// The rule once more, slowly and by scalars: the oracle.
  static func place(after text: String) -> String {
    var (line, column) = (1, 1)
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      let isPair = scalar == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n"
      if scalar == "\n" || (scalar == "\r" && !isPair) {
        (line, column) = (line + 1, 1)
      } else {
        column += 1
      }
    }
    return "\(line):\(column)"
  }

  @Test(arguments: breaks)
  func generatedDocumentsAreRefusedAtTheMarker(_ lineBreak: String) {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let lines = (0..<chance.below(60)).map { _ in Self.member(&chance) }
      let head = (["<plist version=\"1.0\">", "<dict>"] + lines).joined(separator: lineBreak)
      let text = head + lineBreak + "<marker/>" + lineBreak + "</dict></plist>"
      let expected = Self.place(after: head + lineBreak) + " unexpectedElement"
      #expect(refusal(text) == expected, "KEEPSAKE_SEED=\(seed)")
    }
  }

  /// One line of a dictionary, of one to some hundred bytes, so that checkpoints fall anywhere.
  static func member(_ chance: inout SeededGenerator) -> String {
    let pieces = ["a", "é", "漢", "😀", "e\u{301}", "\t", "&amp;", " "]
    let text = (0..<chance.below(60)).map { _ in pieces[chance.below(pieces.count)] }.joined()
    switch chance.below(3) {
    case 0: return "<!-- \(text) -->"
    case 1: return "<key>\(chance.next())</key><string>\(text)</string>"
    default: return ""
    }
  }

  /// With and without CR, and with lines that are longer than the distance of two checkpoints.
  static let texts = [
    ["a", "é", "漢", "😀", "\n", "\r", "\r\n", "bcdefgh"], ["a", "é", "漢", "😀", "\n", "bcdefgh"],
    ["é", "漢", String(repeating: "😀a", count: 400), "\n"], ["a", "\n"], ["漢"],
  ]

  @Test(arguments: texts)
  func everyOffsetAgreesWithTheOracle(_ pieces: [String]) {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    let count = Seeds.rounds(2500, debug: 400)
    let scalars = (0..<count).map { _ in pieces[chance.below(pieces.count)] }.joined()
    let bytes = Array(scalars.utf8)
    let map = SourceMap(bytes)
    var (line, column, checked) = (1, 1, 0)
    for offset in bytes.indices where bytes[offset] & 0xC0 != 0x80 {
      let place = map.position(of: offset)
      guard place.line == line, place.column == column, place.offset == offset else {
        Issue.record("\(place) at \(offset), not \(line):\(column); KEEPSAKE_SEED=\(seed)")
        return
      }
      checked += 1
      let isPair = bytes[offset] == 13 && offset + 1 < bytes.count && bytes[offset + 1] == 10
      if bytes[offset] == 10 || (bytes[offset] == 13 && !isPair) {
        (line, column) = (line + 1, 1)
      } else {
        column += 1
      }
    }
    #expect(checked >= count)
  }
}
