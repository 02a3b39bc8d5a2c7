// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

@Suite struct PropertyListWriterTests {
  private func written(_ value: StoredValue) throws -> String {
    String(decoding: try PropertyList.write(value), as: UTF8.self)
  }

  /// A value as the writer lays it out, without what stands around every value.
  private func body(_ xml: String) throws -> String {
    let text = try written(try parse(document(xml)).storedValue())
    let head = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    let tail = "\n</plist>\n"
    try #require(text.hasPrefix(head) && text.hasSuffix(tail))
    return String(text.dropFirst(head.count).dropLast(tail.count))
  }

  /// A value in any spelling and its one written form.
  static let layouts: [(String, String)] = [
    ("<string/>", "<string></string>"), ("<string> a\n\tb </string>", "<string> a\n\tb </string>"),
    ("<string><![CDATA[<a> & 'b' \"c\"]]></string>", "<string>&lt;a&gt; &amp; 'b' \"c\"</string>"),
    ("<string>]]&gt;</string>", "<string>]]&gt;</string>"),
    ("<string>a&#13;&#10;b</string>", "<string>a&#13;\nb</string>"),
    ("<string>a\rb</string>", "<string>a&#13;b</string>"),
    ("<string>é漢😀\u{FFFD}\u{FEFF}</string>", "<string>é漢😀\u{FFFD}\u{FEFF}</string>"),
    ("<integer>+0x1F</integer>", "<integer>31</integer>"),
    ("<integer>-9223372036854775808</integer>", "<integer>-9223372036854775808</integer>"),
    ("<real>1</real>", "<real>1</real>"), ("<real>-0</real>", "<real>-0</real>"),
    ("<real>0.10000000000000001</real>", "<real>0.1</real>"),
    ("<real>1e300</real>", "<real>1e+300</real>"), ("<real>NAN</real>", "<real>nan</real>"),
    ("<real>inf</real>", "<real>+infinity</real>"), ("<real>-inf</real>", "<real>-infinity</real>"),
    ("<true></true>", "<true/>"), ("<false/>", "<false/>"),
    ("<date>0001-01-01T00:00:00Z</date>", "<date>0001-01-01T00:00:00Z</date>"),
    ("<date>9999-12-31T23:59:59Z</date>", "<date>9999-12-31T23:59:59Z</date>"),
    ("<data/>", "<data>\n</data>"), ("<data>AAE=</data>", "<data>\nAAE=\n</data>"),
    ("<array></array>", "<array/>"), ("<dict></dict>", "<dict/>"),
    (
      "<array><true/><array><data>AA==</data></array></array>",
      "<array>\n\t<true/>\n\t<array>\n\t\t<data>\n\t\tAA==\n\t\t</data>\n\t</array>\n</array>"
    ),
    (
      "<dict><key>b</key><true/><key>B</key><dict/><key>é</key><true/>"
        + "<key>&lt;</key><true/></dict>",
      "<dict>\n\t<key>&lt;</key>\n\t<true/>\n\t<key>B</key>\n\t<dict/>\n\t<key>b</key>\n\t<true/>"
        + "\n\t<key>é</key>\n\t<true/>\n</dict>"
    ),
  ]

  @Test(arguments: layouts)
  func valueHasOneSpelling(_ xml: String, _ expected: String) throws {
    #expect(try body(xml).utf8.elementsEqual(expected.utf8))
  }

  @Test func whatIsWrittenIsReadAsTheSameTree() throws {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<500 * Seeds.factor {
      let root = try parse(RandomTree(&chance).document(&chance))
      guard let value = root.ifStorable else { continue }
      let text = try written(value)
      #expect(canonical(try parse(text)) == canonical(root), "KEEPSAKE_SEED=\(seed) \(text)")
    }
  }

  /// But for what the head of the writer lists.
  @Test func theLayoutIsFoundationsOwn() throws {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<300 * Seeds.factor {
      let tree = RandomTree(&chance)
      guard let value = try parse(tree.document(&chance)).ifStorable else { continue }
      let theirs = lines(String(decoding: try tree.foundation(.xml), as: UTF8.self))
      let ours = lines(try written(value))
      // Keys above U+FFFF have another order.
      guard !ours.contains(where: { $0.contains("<key>") && $0.contains("😀") }) else { continue }
      #expect(ours == theirs, "KEEPSAKE_SEED=\(seed)")
    }
  }

  @Test(arguments: 0...12)
  func longDataIsLaidOutAsFoundationDoes(depth: Int) throws {
    var xml = "<data>\(Data((0..<200).map { UInt8($0) }).base64EncodedString())</data>"
    for _ in 0..<depth { xml = "<array>\(xml)</array>" }
    let theirs = try PropertyListSerialization.data(
      fromPropertyList: PropertyListSerialization.propertyList(
        from: Data(document(xml).utf8), format: nil), format: .xml, options: 0)
    #expect(try PropertyList.write(parse(document(xml)).storedValue()) == Array(theirs))
  }

  /// Every byte of a small file, replaced by every other: never a crash, and what is still accepted
  /// comes back from the writer as it was.
  @Test func everyByteMayBeAnyOther() throws {
    let original = Array(
      "<plist><dict><key>a</key><array><integer>1</integer><real>2</real></array></dict></plist>"
        .utf8)
    for index in original.indices {
      for byte in UInt8.min...UInt8.max {
        var bytes = original
        bytes[index] = byte
        guard BundleSupport.refusal(bytes) == "accepted" else { continue }
        let root = try PropertyList.parse(bytes, file: "a.plist").root
        let text = try PropertyList.write(root.storedValue())
        #expect(spelled(try PropertyList.parse(text, file: "b.plist").root) == spelled(root))
      }
    }
  }

  // MARK: - Refusals

  private func refusal(_ value: StoredValue) -> String {
    do throws(PropertyListWriteError) {
      _ = try PropertyList.write(value)
      return "written"
    } catch {
      return error.description
    }
  }

  @Test(arguments: ["\u{0}", "a\u{8}", "\u{B}", "\u{1F}é", "\u{FFFE}", "é\u{FFFF}"])
  func charactersThatXMLLacksAreRefused(_ text: String) {
    let message = "this text has a character that XML does not allow; remove it, or use data"
    #expect(refusal(.string(text)) == message)
    let path = "a[1].b: "
    #expect(refusal(["a": [true, ["b": .string(text)]]]) == path + message)
    #expect(refusal([text: true]).hasSuffix(": " + message))
  }

  @Test(arguments: [-62_135_596_801, 253_402_300_800, .min, .max])
  func yearsOutsideOfTheFormatAreRefused(_ seconds: Int64) {
    let date = Date(timeIntervalSinceReferenceDate: Double(seconds) - 978_307_200)
    #expect(
      refusal(["d": .date(date)])
        == "d: this date is outside the years 1 to 9999; use another date, or a real")
  }

  @Test func aKeyThatTheReaderRefusesIsRefused() {
    let marks = "a" + String(repeating: "\u{301}", count: 31)
    #expect(refusal([marks: true]).contains("more than 30 combining marks"))
  }
}

// MARK: - Comparing

/// A node without the order of its members.
private func canonical(_ node: PropertyListNode) -> String {
  switch node.value {
  case .array(let elements): return "[" + elements.map(canonical).joined(separator: " ") + "]"
  case .dictionary(let members):
    let sorted = members.sorted { ByteText($0.key) < ByteText($1.key) }
    return "{" + sorted.map { "\($0.key):\(canonical($0.value))" }.joined(separator: " ") + "}"
  default: return spelled(node)
  }
}

/// The lines of a document, reals by their values: two spellings are one number.
private func lines(_ text: String) -> [String] {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    guard let match = line.firstMatch(of: /<real>(.*)<\/real>/) else { return String(line) }
    return "real \(Double(match.1).map { $0 == 0 ? 0 : $0 }?.description ?? String(match.1))"
  }
}
