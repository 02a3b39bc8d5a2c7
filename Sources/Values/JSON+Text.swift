// SPDX-License-Identifier: Apache-2.0
//
// A tree from JSON text, and text from a tree. Member names must be unique by canonical
// equivalence: a Swift dictionary could not hold both.

extension JSON {
  /// Parses exactly one value with optional white space around it. O(n), with many times the memory
  /// of the text: use `CanonicalText` for large values.
  package init(parsing text: String) throws(JSONError) {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(JSONError) in
        var parser = JSONParser(scanner: JSONScanner(bytes))
        return try parser.document()
      }
    }
    self = try result.get()
  }
}

private struct JSONParser {
  var scanner: JSONScanner

  mutating func document() throws(JSONError) -> JSON {
    let value = try value()
    try scanner.end()
    return value
  }

  private mutating func value() throws(JSONError) -> JSON {
    scanner.skipSpace()
    switch scanner.next {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    default: return try scanner.scalar()
    }
  }

  private mutating func elements() throws(JSONError) -> [JSON] {
    try scanner.enter()
    defer { scanner.leave() }
    var elements: [JSON] = []
    if scanner.accept(UInt8(ascii: "]")) { return [] }
    repeat { elements.append(try value()) } while scanner.accept(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"), "expected , or ]")
    return elements
  }

  private mutating func members() throws(JSONError) -> [JSON.Member] {
    try scanner.enter()
    defer { scanner.leave() }
    var members: [JSON.Member] = []
    var names: Set<String> = []
    if scanner.accept(UInt8(ascii: "}")) { return [] }
    repeat {
      let start = try scanner.startOfName()
      let name = try scanner.string()
      guard names.insert(name).inserted else { throw scanner.duplicateName(at: start) }
      try scanner.expect(UInt8(ascii: ":"), "expected :")
      members.append(JSON.Member(name, try value()))
    } while scanner.accept(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"), "expected , or }")
    return members
  }
}

// MARK: - Writing

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
    case .string(let text): sink.append(quoted: text)
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
        sink.append(quoted: member.name)
        sink.append(UInt8(ascii: ":"))
        member.value.write(to: sink)
      }
      sink.append(UInt8(ascii: "}"))
    }
  }
}

extension ContainerText {
  /// Writes the canonical form.
  ///
  /// - Parameter isShown: whether to write dates as `JSON(showing:)` does.
  fileprivate func write(to sink: TextSink, isShown: Bool) {
    if isCanonical, !isShown { return sink.append(text) }
    let target = isCanonical ? sink : TextSink()
    var text = text
    text.withUTF8 { bytes in
      var reader = CanonicalText(JSONScanner(bytes), to: target, isShown: isShown)
      // Cannot fail: `examine` has read it.
      _ = Result { () throws(JSONError) in try reader.value() }
    }
    if !isCanonical { target.bytes.withUnsafeBufferPointer { sink.append($0) } }
  }
}
