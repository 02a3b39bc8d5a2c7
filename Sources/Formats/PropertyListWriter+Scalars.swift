// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension PropertyListWriter {
  /// Appends text with markup characters escaped.
  mutating func append(escaping text: String) throws(Fault) {
    var text = text
    let isLegal = text.withUTF8 { append(escaping: $0) }
    guard isLegal else {
      throw Fault("this text has a character that XML does not allow; remove it, or use data")
    }
  }

  /// - Returns: false at a character that XML 1.0 does not allow (production 2, "Char").
  private mutating func append(escaping bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var written = 0
    for index in bytes.indices {
      let byte = bytes[index]
      // Above `>`, only the lead byte of U+FFFE and U+FFFF needs a check.
      if byte > UInt8(ascii: ">") && byte != 0xEF { continue }
      let replacement: StaticString
      switch byte {
      case UInt8(ascii: "<"): replacement = "&lt;"
      case UInt8(ascii: ">"): replacement = "&gt;"
      case UInt8(ascii: "&"): replacement = "&amp;"
      case .carriageReturn: replacement = "&#13;"
      case 0xEF where bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE: return false
      case 0..<0x20 where !byte.isSpace: return false
      default: continue
      }
      append(UnsafeBufferPointer(rebasing: bytes[written..<index]))
      append(replacement)
      written = index + 1
    }
    append(UnsafeBufferPointer(rebasing: bytes[written...]))
    return true
  }

  /// Base64 in CoreFoundation's layout: lines end before column 76, where a tab counts as eight,
  /// and are indented by at most eight tabs.
  mutating func data(_ bytes: Data, depth: Int) {
    let tabs = min(depth, 8)
    append("<data>\n")
    let perLine = (76 - 8 * tabs) / 4 * 3
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: perLine) {
      indent(tabs)
      out += bytes[start..<min(start + perLine, bytes.endIndex)].base64EncodedData()
      append("\n")
    }
    indent(depth)
    append("</data>\n")
  }

  /// The shortest text that the parser reads as the same number, with CoreFoundation's names of NaN
  /// and infinity.
  static func spelling(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// The date in whole seconds, rounded down as Foundation does.
  static func spelling(_ date: Date) throws(Fault) -> String {
    let interval = date.timeIntervalSinceReferenceDate
    guard let text = ISO8601.text(secondsSince2001: interval.rounded(.down)) else {
      throw Fault("this date is outside the years 1 to 9999; use another date, or a real")
    }
    return text.prefix(19) + "Z"
  }
}
