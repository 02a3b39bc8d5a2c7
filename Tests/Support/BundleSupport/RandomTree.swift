// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import TestSupport

/// Random property lists and two ways to write them: ours, with all the freedom that XML leaves,
/// and Foundation's own.
package indirect enum RandomTree {
  case string(String), integer(Int64), unsigned(UInt64), real(Double), boolean(Bool), date(Int64)
  case data([UInt8]), array([RandomTree]), dictionary([(String, RandomTree)])

  package init(_ chance: inout SeededGenerator, depth: Int = 0) {
    let containers = depth < 5 ? 4 : 0
    switch chance.below(8 + containers) {
    case 0, 1: self = .string(Self.text(&chance))
    case 2: self = .integer(Int64(truncatingIfNeeded: chance.next()) >> chance.below(64))
    case 3: self = .unsigned(chance.next() | 1 << 63)
    case 4: self = .real(Self.number(&chance))
    case 5: self = .boolean(chance.oneIn(2))
    case 6: self = .date(Int64(chance.below(4_000_000_000)) - 1_000_000_000)
    case 7: self = .data((0..<chance.below(9)).map { _ in UInt8(chance.below(256)) })
    case 8, 9:
      self = .array((0..<chance.below(5)).map { _ in RandomTree(&chance, depth: depth + 1) })
    default:
      var keys: Set<String> = []
      var members: [(String, RandomTree)] = []
      for _ in 0..<chance.below(5) {
        let key = Self.text(&chance)
        if keys.insert(key).inserted {
          members.append((key, RandomTree(&chance, depth: depth + 1)))
        }
      }
      self = .dictionary(members)
    }
  }

  private static func number(_ chance: inout SeededGenerator) -> Double {
    let bits = Double(bitPattern: chance.next())
    return chance.oneIn(2) && bits.isFinite ? bits : Double(chance.below(2000) - 1000) / 8
  }

  /// Legal characters of all lengths, the markup ones often. No CR: Foundation's writer and reader
  /// differ from platform to platform there.
  private static func text(_ chance: inout SeededGenerator) -> String {
    let odd = [
      "<", ">", "&", "'", "\"", "]]>", "\n", "\t", "é", "e\u{301}", "漢", "😀", "\u{FFFD}", " ",
    ]
    return (0..<chance.below(9)).map { _ in
      chance.oneIn(2)
        ? odd[chance.below(odd.count)] : String(UnicodeScalar(UInt8(0x30 + chance.below(75))))
    }.joined()
  }
}

// MARK: - Our writer

extension RandomTree {
  package func document(_ chance: inout SeededGenerator) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" + Self.space(&chance)
      + (chance.oneIn(2) ? "<!DOCTYPE plist SYSTEM \"x\">" : "") + Self.space(&chance)
      + "<plist version=\"1.0\">" + xml(&chance) + "</plist>" + Self.space(&chance)
  }

  private func xml(_ chance: inout SeededGenerator) -> String {
    let element =
      switch self {
      case .string(let text): "<string>\(Self.escaped(text, &chance))</string>"
      case .integer(let number): "<integer>\(number)</integer>"
      case .unsigned(let number): "<integer>\(number)</integer>"
      case .real(let number): "<real>\(number)</real>"
      case .boolean(let flag): flag ? "<true/>" : "<false/>"
      case .date(let seconds): "<date>\(Self.date(seconds))</date>"
      case .data(let bytes): "<data>\(Data(bytes).base64EncodedString())</data>"
      case .array(let elements): "<array>" + elements.map { $0.xml(&chance) }.joined() + "</array>"
      case .dictionary(let members):
        "<dict>"
          + members.map {
            Self.space(&chance) + "<key>\(Self.escaped($0.0, &chance))</key>" + $0.1.xml(&chance)
          }.joined() + "</dict>"
      }
    return Self.space(&chance) + element + Self.space(&chance)
  }

  private static func space(_ chance: inout SeededGenerator) -> String {
    ["", "", "\n", " \t", "\r\n", "<!-- a comment -->"][chance.below(6)]
  }

  private static func escaped(_ text: String, _ chance: inout SeededGenerator) -> String {
    if chance.oneIn(8), !text.isEmpty, !text.contains("]]>") { return "<![CDATA[\(text)]]>" }
    return text.unicodeScalars.map { scalar in
      switch scalar {
      case "<": return "&lt;"
      case "&": return "&amp;"
      case ">": return "&gt;"
      default:
        return chance.oneIn(6) ? "&#x\(String(scalar.value, radix: 16));" : String(scalar)
      }
    }.joined()
  }

  private static func date(_ seconds: Int64) -> String {
    let date = Date(timeIntervalSince1970: Double(seconds))
    return date.formatted(Date.ISO8601FormatStyle(timeZone: TimeZone(secondsFromGMT: 0)!))
  }
}

// MARK: - Expectations

extension RandomTree {
  /// As `spelled` shows the parsed node.
  package var spelling: String {
    switch self {
    case .string(let text): "\"\(text.debugBytes)\""
    case .integer(let number): "i\(number)"
    case .unsigned(let number): "u\(number)"
    case .real(let number): "r\(number)"
    case .boolean(let flag): "\(flag)"
    case .date(let seconds): "t\(seconds)"
    case .data(let bytes): "d" + bytes.map { String(format: "%02x", $0) }.joined()
    case .array(let elements): "[" + elements.map(\.spelling).joined(separator: " ") + "]"
    case .dictionary(let members):
      "{" + members.map { "\($0.0.debugBytes):\($0.1.spelling)" }.joined(separator: " ") + "}"
    }
  }

  /// What Foundation writes.
  package func foundation(_ format: PropertyListSerialization.PropertyListFormat) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: foundation, format: format, options: 0)
  }

  private var foundation: Any {
    switch self {
    case .string(let text): text
    case .integer(let number): number
    case .unsigned(let number): number
    case .real(let number): number
    case .boolean(let flag): flag
    case .date(let seconds): Date(timeIntervalSince1970: Double(seconds))
    case .data(let bytes): Data(bytes)
    case .array(let elements): elements.map(\.foundation)
    case .dictionary(let members):
      Dictionary(members.map { ($0.0, $0.1.foundation) }, uniquingKeysWith: { $1 })
    }
  }
}
