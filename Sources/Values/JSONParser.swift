// SPDX-License-Identifier: Apache-2.0
//
// Builds a tree from JSON text. Member names must be unique by canonical equivalence: a Swift
// dictionary could not hold both.

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
