// SPDX-License-Identifier: Apache-2.0

/// A JSON value that distinguishes integers from floating-point numbers and keeps the order of
/// members, which Foundation's coders do not.
package indirect enum JSON: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([Member])
  /// A stored array or dictionary, written without being decoded.
  case container(ContainerText, isShown: Bool)

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The nesting depth of arrays and objects: a level of a value takes up to two, a marker one
  /// more.
  package static let maximumDepth = 2 * StoredValue.maximumDepth + 2

  /// An object without the members that have no value.
  package static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// The first member of this name; nil if this is not an object or has none.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { ByteText($0.name) == ByteText(name) }?.value
  }
}

extension JSON {
  /// The text of this value, without spaces and with no escapes beyond RFC 8259's and U+007F. O(n).
  package func text() -> String {
    let sink = TextSink()
    write(to: sink)
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  /// Writes the text piece by piece.
  package func write(to sink: TextSink) {
    switch self {
    case .null: sink.append("null")
    case .boolean(let flag): sink.append(flag ? "true" : "false")
    case .integer(let number): sink.append(String(number))
    case .real(let number): sink.append(number.description)
    case .string(let text): Self.write(text, to: sink)
    case .container(let container, let isShown): container.write(to: sink, isShown: isShown)
    case .array(let elements):
      sink.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { sink.append(UInt8(ascii: ",")) }
        element.write(to: sink)
      }
      sink.append(UInt8(ascii: "]"))
    case .object(let members):
      sink.append(UInt8(ascii: "{"))
      for (place, member) in members.enumerated() {
        if place > 0 { sink.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: sink)
        sink.append(UInt8(ascii: ":"))
        member.value.write(to: sink)
      }
      sink.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to sink: TextSink) {
    sink.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { write(run: $0, to: sink) }
    sink.append(UInt8(ascii: "\""))
  }

  /// Writes whole scalars of a string, with the necessary escapes.
  static func write(run: UnsafeBufferPointer<UInt8>, to sink: TextSink) {
    var start = 0
    for (place, byte) in run.enumerated() where needsEscape(byte) {
      if place > start { sink.append(UnsafeBufferPointer(rebasing: run[start..<place])) }
      write(Unicode.Scalar(byte), to: sink)
      start = place + 1
    }
    if start < run.count { sink.append(UnsafeBufferPointer(rebasing: run[start...])) }
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f
  }

  /// Writes one scalar of a string.
  static func write(_ scalar: Unicode.Scalar, to sink: TextSink) {
    switch scalar {
    case "\"": sink.append("\\\"")
    case "\\": sink.append("\\\\")
    case "\n": sink.append("\\n")
    case "\r": sink.append("\\r")
    case "\t": sink.append("\\t")
    case "\u{0}"..<" ", "\u{7f}":
      let hex = String(scalar.value, radix: 16)
      sink.append("\\u" + String(repeating: "0", count: 4 - hex.count) + hex)
    default: sink.append(String(scalar))
    }
  }
}
