// SPDX-License-Identifier: Apache-2.0
//
// The text is canonical: equal trees have equal bytes, whatever the order of their members. The
// layout is that of Apple's `plutil`, except that
// - keys are sorted by their UTF-8 bytes (CoreFoundation compares UTF-16 units);
// - a real has the fewest digits that identify it (0.1, not 0.10000000000000001), and -0 keeps its
//   sign;
// - a carriage return is `&#13;`, because XML readers may turn a bare one into a line feed.
//
// Invariant: `PropertyList.parse` reads the same value back, with limits that allow its size. The
// writer throws for a value that the parser could not read.

package import KeepsakeSettingsBundle
package import KeepsakeValues

extension PropertyList {
  /// Writes a value as an XML property list. O(n log n) for the longest dictionary.
  ///
  /// - Throws: `PropertyListWriteError` for a control character, a year outside 1 to 9999, a key
  ///   with more than 30 combining marks in a row, and a value of a newer version.
  package static func write(_ value: StoredValue) throws(PropertyListWriteError) -> [UInt8] {
    var writer = PropertyListWriter()
    do throws(PropertyListWriter.Fault) {
      return try writer.document(value)
    } catch {
      throw PropertyListWriteError(error)
    }
  }
}

/// A value that no property list can hold.
package struct PropertyListWriteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The key path of the value, such as `a.b[3]`; nil for the root.
  package let keyPath: String?
  /// The problem and the fix. Never contains the value itself.
  package let message: String

  package var description: String { keyPath.map { "\($0): \(message)" } ?? message }
}

struct PropertyListWriter {
  var out: [UInt8] = []

  mutating func document(_ value: StoredValue) throws(Fault) -> [UInt8] {
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

  private mutating func element(_ value: StoredValue, depth: Int) throws(Fault) {
    indent(depth)
    switch value {
    case .string(let text):
      append("<string>")
      try append(escaping: text)
      append("</string>\n")
    case .integer(let number): scalar("integer", number)
    case .real(let number): scalar("real", Self.spelling(number))
    case .boolean(let flag): append(flag ? "<true/>\n" : "<false/>\n")
    case .date(let date): scalar("date", try Self.spelling(date))
    case .data(let bytes): data(bytes, depth: depth)
    case .array(let elements): try array(elements, depth: depth)
    case .dictionary(let members): try dictionary(members, depth: depth)
    case .opaque:
      throw Fault("this version cannot read the stored value; export with a newer one")
    }
  }

  private mutating func scalar(_ tag: StaticString, _ text: some CustomStringConvertible) {
    append("<")
    append(tag)
    append(">")
    out.append(contentsOf: text.description.utf8)
    append("</")
    append(tag)
    append(">\n")
  }

  mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { out.append(contentsOf: $0) }
  }

  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    out.append(contentsOf: bytes)
  }

  mutating func indent(_ depth: Int) {
    for _ in 0..<depth { out.append(UInt8(ascii: "\t")) }
  }
}

// MARK: - Containers

extension PropertyListWriter {
  private mutating func array(_ elements: [StoredValue], depth: Int) throws(Fault) {
    if elements.isEmpty { return append("<array/>\n") }
    append("<array>\n")
    for (index, item) in elements.enumerated() {
      do throws(Fault) {
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
  ) throws(Fault) {
    if members.isEmpty { return append("<dict/>\n") }
    append("<dict>\n")
    for (key, value) in members.sorted(by: { ByteText($0.key) < ByteText($1.key) }) {
      do throws(Fault) {
        if key.hasTooManyCombiningMarks {
          throw Fault("this key has more than 30 combining marks in a row; rename it")
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
}

// MARK: - Faults

extension PropertyListWriter {
  struct Fault: Error {
    let message: String
    /// From the innermost outwards.
    private(set) var steps: [KeyPathText.Step] = []

    init(_ message: String) { self.message = message }

    func inside(_ step: KeyPathText.Step) -> Fault {
      var copy = self
      copy.steps.append(step)
      return copy
    }
  }
}

extension PropertyListWriteError {
  init(_ fault: PropertyListWriter.Fault) {
    self.init(keyPath: KeyPathText(fault.steps.reversed()).text, message: fault.message)
  }
}
