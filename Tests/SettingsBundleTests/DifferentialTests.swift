// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSettingsBundle
import Testing

@Suite struct DifferentialTests {
  @Test func randomTreesComeBackAsTheyWereWritten() throws {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    for _ in Chance.rounds(500) {
      let tree = RandomTree(&chance)
      let text = tree.document(&chance)
      #expect(spelled(try parse(text)) == tree.spelling, "KEEPSAKE_SEED=\(seed) \(text)")
    }
  }

  @Test func foundationReadsTheSameFromOurDocuments() throws {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    for _ in Chance.rounds(500) {
      let text = RandomTree(&chance).document(&chance)
      let ours = try parse(text)
      let theirs = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
      #expect(isSame(ours, theirs), "KEEPSAKE_SEED=\(seed) \(text)")
    }
  }

  @Test func weReadWhatFoundationWrites() throws {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    for _ in Chance.rounds(300) {
      let tree = RandomTree(&chance)
      let data = try PropertyListSerialization.data(
        fromPropertyList: tree.foundation, format: .xml, options: 0)
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
      ("<true/>", false),
      ("<date>2001-01-01T00:00:01Z</date>", Date(timeIntervalSinceReferenceDate: 0)),
      ("<data>AA==</data>", Data([1])), ("<array><true/></array>", [true, true]),
      ("<array><true/></array>", [false]), ("<dict><key>a</key><true/></dict>", ["a": false]),
      ("<dict><key>a</key><true/></dict>", ["b": true]), ("<dict/>", ["b": true]),
    ]
    for (xml, other) in pairs {
      #expect(!isSame(try parse(document(xml)), other), "\(xml)")
    }
  }
}

private func isSame(_ node: PropertyListNode, _ other: Any) -> Bool {
  switch node.value {
  case .string(let text):
    return (other as? String).map { $0.utf8.elementsEqual(text.utf8) } ?? false
  case .integer(let number): return (other as? NSNumber)?.int64Value == number
  case .unsigned(let number): return "\(other)" == "\(number)"
  case .real(let number): return (other as? NSNumber)?.doubleValue == number
  case .boolean(let flag): return other as? Bool == flag
  case .date(let seconds): return (other as? Date)?.timeIntervalSince1970 == Double(seconds)
  case .data(let bytes): return other as? Data == Data(bytes)
  case .array(let elements):
    guard let others = other as? [Any], others.count == elements.count else { return false }
    return zip(elements, others).allSatisfy { isSame($0, $1) }
  case .dictionary(let members):
    guard let others = other as? [String: Any], others.count == members.count else { return false }
    return members.allSatisfy { member in
      others[member.key].map { isSame(member.value, $0) } ?? false
    }
  }
}
