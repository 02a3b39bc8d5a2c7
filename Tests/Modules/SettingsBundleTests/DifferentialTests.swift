// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import TestSupport
import Testing

@Suite struct DifferentialTests {
  @Test func randomTreesComeBackAsTheyWereWrittenAndAsFoundationReadsThem() throws {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<500 * Seeds.factor {
      let tree = RandomTree(&chance)
      let text = tree.document(&chance)
      let ours = try parse(text)
      let theirs = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
      #expect(spelled(ours) == tree.spelling, "KEEPSAKE_SEED=\(seed) \(text)")
      #expect(isSame(ours, theirs), "KEEPSAKE_SEED=\(seed) \(text)")
    }
  }

  @Test func weReadWhatFoundationWrites() throws {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<300 * Seeds.factor {
      let data = try RandomTree(&chance).foundation(.xml)
      let ours = try PropertyList.parse(Array(data), file: "foundation.plist").root
      let theirs = try PropertyListSerialization.propertyList(from: data, format: nil)
      #expect(
        isSame(ours, theirs), "KEEPSAKE_SEED=\(seed) \(String(decoding: data, as: UTF8.self))")
    }
  }

  /// A comparison that says yes to everything would make the tests above worthless.
  @Test func comparisonSeesADifferenceOfEveryKind() throws {
    let pairs: [(String, Any)] = [
      ("<string>a</string>", "b"), ("<string>1</string>", 1), ("<integer>1</integer>", 2),
      ("<integer>18446744073709551615</integer>", UInt64.max - 1), ("<real>1.5</real>", 1.25),
      ("<true/>", false), ("<true/>", 1), ("<true/>", 1.0), ("<false/>", 0),
      ("<integer>1</integer>", true), ("<integer>1</integer>", 1.0), ("<real>1</real>", 1),
      ("<integer>0</integer>", false), ("<real>1</real>", true), ("<string>é</string>", "e\u{301}"),
      ("<array><integer>1</integer></array>", [1.0]), ("<integer>1</integer>", "1"),
      ("<date>2001-01-01T00:00:01Z</date>", Date(timeIntervalSinceReferenceDate: 0)),
      ("<data>AA==</data>", Data([1])), ("<array><true/></array>", [true, true]),
      ("<array><true/></array>", [false]), ("<dict><key>a</key><true/></dict>", ["a": false]),
      ("<dict><key>a</key><true/></dict>", ["b": true]), ("<dict/>", ["b": true]),
    ]
    for (xml, other) in pairs {
      #expect(!isSame(try parse(document(xml)), other), "\(xml)")
    }
    for (xml, same) in [
      ("<integer>1</integer>", 1 as Any), ("<true/>", true), ("<real>1</real>", 1.0),
    ] {
      #expect(isSame(try parse(document(xml)), same), "\(xml)")
    }
  }
}

func isSame(_ node: PropertyListNode, _ other: Any) -> Bool {
  kinds(node).utf8.elementsEqual(kinds(other).utf8)
}

/// Both as one line, with members in the order of their keys, which Foundation does not keep.
private func kinds(_ node: PropertyListNode) -> String {
  switch node.value {
  case .array(let elements): "[" + elements.map { kinds($0) }.joined(separator: " ") + "]"
  case .dictionary(let members): table(members.map { ($0.key, kinds($0.value)) })
  default: spelled(node)
  }
}

/// The type of a number is in its Objective-C type only: `as? Bool` takes 1 for true.
func kinds(_ any: Any) -> String {
  switch any {
  case let text as String: return "\"\(text.debugBytes)\""
  case let date as Date: return "t\(Int64(date.timeIntervalSince1970))"
  case let data as Data: return "d" + data.map { String(format: "%02x", $0) }.joined()
  case let number as NSNumber:
    switch String(cString: number.objCType) {
    case "c", "B": return "\(number.boolValue)"
    case "d", "f": return "r\(number.doubleValue)"
    default: return (Int64(number.stringValue) == nil ? "u" : "i") + number.stringValue
    }
  case let elements as [Any]: return "[" + elements.map { kinds($0) }.joined(separator: " ") + "]"
  case let members as [String: Any]: return table(members.map { ($0.key, kinds($0.value)) })
  default: return "\(type(of: any))"
  }
}

private func table(_ members: [(key: String, value: String)]) -> String {
  let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  return "{" + sorted.map { "\($0.key.debugBytes):\($0.value)" }.joined(separator: " ") + "}"
}
