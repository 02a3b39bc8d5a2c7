// SPDX-License-Identifier: Apache-2.0
//
// The text is canonical: equal trees have equal bytes, whatever the order of their members. The
// layout is that of Apple's `plutil`, except that
// - keys are sorted by their UTF-8 bytes (CoreFoundation compares UTF-16 units);
// - a real has the fewest digits that identify it (0.1, not 0.10000000000000001), and -0 keeps its
//   sign;
// - a carriage return is `&#13;`, because XML readers may turn a bare one into a line feed.
//
// Invariant: `PropertyList.parse` reads the same tree back, with limits that allow its size. The
// writer throws for a tree that the parser could not read.

package import KeepsakeSettingsBundle
import KeepsakeValues

extension PropertyList {
  /// Writes a value as an XML property list. O(n log n) for the longest dictionary.
  ///
  /// - Throws: `PropertyListWriteError` for a control character, a year outside 1 to 9999,
  ///   canonically equal keys of one dictionary, a key with more than 30 combining marks in a row,
  ///   and arrays and dictionaries deeper than 512.
  package static func write(
    _ value: PropertyListNode.Value
  ) throws(PropertyListWriteError) -> [UInt8] {
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
  /// The depth that the parser reads at most.
  private static let maximumDepth = 512

  var out: [UInt8] = []

  mutating func document(_ value: PropertyListNode.Value) throws(Fault) -> [UInt8] {
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

  private mutating func element(
    _ value: PropertyListNode.Value, depth: Int
  ) throws(Fault) {
    indent(depth)
    switch value {
    case .string(let text):
      append("<string>")
      try append(escaping: text)
      append("</string>\n")
    case .integer(let number): scalar("integer", number)
    case .unsigned(let number): scalar("integer", number)
    case .real(let number): scalar("real", Self.spelling(number))
    case .boolean(let flag): append(flag ? "<true/>\n" : "<false/>\n")
    case .date(let date): scalar("date", try Self.spelling(date))
    case .data(let bytes): data(bytes, depth: depth)
    case .array(let elements): try array(elements, depth: depth)
    case .dictionary(let members): try dictionary(members, depth: depth)
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
  private mutating func array(_ elements: [PropertyListNode], depth: Int) throws(Fault) {
    if elements.isEmpty { return append("<array/>\n") }
    try check(depth)
    append("<array>\n")
    for (index, item) in elements.enumerated() {
      do throws(Fault) {
        try element(item.value, depth: depth + 1)
      } catch {
        throw error.inside(.index(index))
      }
    }
    indent(depth)
    append("</array>\n")
  }

  private mutating func dictionary(
    _ members: [PropertyListNode.Member], depth: Int
  ) throws(Fault) {
    if members.isEmpty { return append("<dict/>\n") }
    try check(depth)
    append("<dict>\n")
    for place in try Self.order(members) {
      do throws(Fault) {
        indent(depth + 1)
        append("<key>")
        try append(escaping: members[place].key)
        append("</key>\n")
        try element(members[place].value.value, depth: depth + 1)
      } catch {
        throw error.inside(.key(members[place].key))
      }
    }
    indent(depth)
    append("</dict>\n")
  }

  private func check(_ depth: Int) throws(Fault) {
    guard depth < Self.maximumDepth else {
      throw Fault("arrays and dictionaries nest deeper than \(Self.maximumDepth); flatten them")
    }
  }

  /// The indices of the members, sorted by the bytes of their keys.
  ///
  /// - Throws: `Fault` for keys that the parser would refuse.
  private static func order(_ members: [PropertyListNode.Member]) throws(Fault) -> [Int] {
    for member in members where member.key.hasTooManyCombiningMarks {
      throw Fault("this key has more than 30 combining marks in a row; rename it")
        .inside(.key(member.key))
    }
    var keys: Set<String> = []
    for member in members where !keys.insert(member.key).inserted {
      throw Fault("duplicate key by Unicode canonical equivalence; rename one of the two")
        .inside(.key(member.key))
    }
    return members.indices.sorted { ByteText(members[$0].key) < ByteText(members[$1].key) }
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
