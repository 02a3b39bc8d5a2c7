// SPDX-License-Identifier: Apache-2.0
//
// The text is canonical: equal trees have equal bytes, whatever the order of their members. The
// layout is that of Apple's `plutil`, except that
// - keys are sorted by their UTF-8 bytes (CoreFoundation compares UTF-16 units);
// - a real has the fewest digits that identify it (0.1, not 0.10000000000000001), and -0 keeps its
//   sign;
// - a carriage return is `&#13;`, because XML readers may turn a bare one into a line feed.
//
// Invariant: `PropertyList.parse`, with limits that allow the size, reads the same value back. The
// writer throws for a value that the parser cannot read.

package import KeepsakeSettingsBundle
package import KeepsakeValues

extension PropertyList {
  /// Writes a value as an XML property list. O(n log n) for the longest dictionary.
  ///
  /// - Throws: `PropertyListWriteError` for a control character, a year outside 1 to 9999, a key
  ///   with more than 30 combining marks in a row, and a value of a newer version.
  package static func write(_ value: StoredValue) throws(PropertyListWriteError) -> [UInt8] {
    var writer = PropertyListWriter()
    return try writer.document(value)
  }
}

/// A value that no property list can hold.
package struct PropertyListWriteError: Error, Sendable, CustomStringConvertible {
  /// The problem and the fix. Never contains the value itself.
  package let message: String
  /// The path to the value, from the innermost step outwards.
  private var steps: [KeyPathStep] = []

  fileprivate init(_ message: String) { self.message = message }

  /// The key path of the value, such as `a.b[3]`; nil for the root.
  package var keyPath: String? { Array(steps.reversed()).keyPath }

  package var description: String { keyPath.map { "\($0): \(message)" } ?? message }

  fileprivate func inside(_ step: KeyPathStep) -> PropertyListWriteError {
    var error = self
    error.steps.append(step)
    return error
  }
}

private typealias WriteError = PropertyListWriteError

private struct PropertyListWriter {
  private var out: [UInt8] = []

  mutating func document(_ value: StoredValue) throws(WriteError) -> [UInt8] {
    append(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """)
    try element(value, depth: 0)
    append("</plist>\n")
    return out
  }

  private mutating func element(_ value: StoredValue, depth: Int) throws(WriteError) {
    indent(depth)
    switch value {
    case .string(let text):
      append("<string>")
      try append(escaping: text)
      append("</string>\n")
    case .integer(let number): append("<integer>\(number)</integer>\n")
    case .real(let number): append("<real>\(Self.spelling(number))</real>\n")
    case .boolean(let flag): append(flag ? "<true/>\n" : "<false/>\n")
    case .date(let date): append("<date>\(try Self.spelling(date))</date>\n")
    case .data(let bytes): data(bytes, depth: depth)
    case .array(let elements): try array(elements, depth: depth)
    case .dictionary(let members): try dictionary(members, depth: depth)
    case .opaque:
      throw WriteError("this version cannot read the stored value; export with a newer one")
    }
  }

  private mutating func append(_ text: String) { out += text.utf8 }

  private mutating func indent(_ depth: Int) {
    for _ in 0..<depth { out.append(UInt8(ascii: "\t")) }
  }

  // MARK: - Containers

  private mutating func array(_ elements: [StoredValue], depth: Int) throws(WriteError) {
    if elements.isEmpty { return append("<array/>\n") }
    append("<array>\n")
    for (index, item) in elements.enumerated() {
      do throws(WriteError) {
        try element(item, depth: depth + 1)
      } catch {
        throw error.inside(.index(index))
      }
    }
    indent(depth)
    append("</array>\n")
  }

  private mutating func dictionary(
    _ members: [String: StoredValue], depth: Int
  ) throws(WriteError) {
    if members.isEmpty { return append("<dict/>\n") }
    append("<dict>\n")
    for (key, value) in members.sorted(by: { ByteText($0.key) < ByteText($1.key) }) {
      do throws(WriteError) {
        if key.hasTooManyCombiningMarks {
          throw WriteError("this key has more than 30 combining marks in a row; rename it")
        }
        indent(depth + 1)
        append("<key>")
        try append(escaping: key)
        append("</key>\n")
        try element(value, depth: depth + 1)
      } catch {
        throw error.inside(.key(key))
      }
    }
    indent(depth)
    append("</dict>\n")
  }

  // MARK: - Scalars

  /// Appends text with markup characters escaped.
  private mutating func append(escaping text: String) throws(WriteError) {
    var text = text
    let isLegal = text.withUTF8 { append(escaping: $0) }
    guard isLegal else {
      throw WriteError("this text has a character that XML does not allow; remove it, or use data")
    }
  }

  /// - Returns: false at a character that XML 1.0 does not allow (production 2, "Char").
  private mutating func append(escaping bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var written = 0
    for index in bytes.indices {
      let byte = bytes[index]
      // Above `>`, only the lead byte of U+FFFE and U+FFFF needs a check.
      if byte > UInt8(ascii: ">") && byte != 0xEF { continue }
      let replacement: String
      switch byte {
      case UInt8(ascii: "<"): replacement = "&lt;"
      case UInt8(ascii: ">"): replacement = "&gt;"
      case UInt8(ascii: "&"): replacement = "&amp;"
      case .carriageReturn: replacement = "&#13;"
      case 0xEF where bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE: return false
      case 0..<0x20 where !byte.isSpace: return false
      default: continue
      }
      out += bytes[written..<index]
      append(replacement)
      written = index + 1
    }
    out += bytes[written...]
    return true
  }

  /// Base64 in CoreFoundation's layout: lines end before column 76, where a tab counts as eight,
  /// and are indented by at most eight tabs.
  private mutating func data(_ bytes: Data, depth: Int) {
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
  private static func spelling(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// The date in whole seconds, rounded down as Foundation does.
  private static func spelling(_ date: Date) throws(WriteError) -> String {
    let interval = date.timeIntervalSinceReferenceDate
    guard let text = ISO8601.text(secondsSince2001: interval.rounded(.down)) else {
      throw WriteError("this date is outside the years 1 to 9999; use another date, or a real")
    }
    return text.prefix(19) + "Z"
  }
}
