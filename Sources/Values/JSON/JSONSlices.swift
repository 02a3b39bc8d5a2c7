// SPDX-License-Identifier: Apache-2.0

/// Finds the members of a JSON object without parsing their values: a hub stores rows unchanged,
/// and a device reads the other members of a row whose value it cannot read.
///
/// The bytes must be valid UTF-8.
package struct JSONSlices {
  package struct Malformed: Error {}

  private let bytes: [UInt8]
  private let end: Int
  /// The index of the next byte to read; after `Malformed`, of the byte that is wrong.
  package private(set) var index: Int

  package init(_ bytes: [UInt8], _ range: Range<Int>) {
    (self.bytes, index, end) = (bytes, range.lowerBound, range.upperBound)
  }

  /// Calls `body` with the name of each member of the object, with its escapes, and the range of
  /// the member's value. Only white space may follow the object.
  package mutating func members(
    _ body: (ArraySlice<UInt8>, Range<Int>) throws -> Void
  ) throws {
    let bytes = bytes
    try bytes.withUnsafeBufferPointer { all in
      var scanner = JSONScanner(UnsafeBufferPointer(rebasing: all[..<end]))
      scanner.index = index
      defer { index = scanner.index }
      do {
        try scanner.skipMembers { try body(bytes[$0.dropFirst().dropLast()], $1) }
        try scanner.end()
      } catch is JSONError {
        throw Malformed()
      }
    }
  }
}

extension JSONScanner {
  fileprivate mutating func isAt(_ byte: UInt8) -> Bool {
    skipSpace()
    return next == byte
  }

  /// Skips an object.
  ///
  /// - Parameter body: called with the ranges of each member's name, with its quotes, and value.
  fileprivate mutating func skipMembers(
    _ body: (_ name: Range<Int>, _ value: Range<Int>) throws -> Void = { _, _ in }
  ) throws {
    guard isAt(UInt8(ascii: "{")) else { throw error("expected {") }
    try enter()
    defer { leave() }
    if accept(UInt8(ascii: "}")) { return }
    repeat {
      guard isAt(UInt8(ascii: "\"")) else { throw error("expected a member name in quotes") }
      let name = index
      try skipString()
      let end = index
      try expect(UInt8(ascii: ":"), orThrow: "expected :")
      skipSpace()
      let value = index
      try skipValue()
      try body(name..<end, value..<index)
    } while accept(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"), orThrow: "expected , or }")
  }

  private mutating func skipValue() throws {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): try skipMembers()
    case UInt8(ascii: "["):
      try enter()
      defer { leave() }
      if accept(UInt8(ascii: "]")) { return }
      repeat { try skipValue() } while accept(UInt8(ascii: ","))
      try expect(UInt8(ascii: "]"), orThrow: "expected , or ]")
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): _ = try scalar()
    default: _ = try skipNumber()
    }
  }

  /// Skips a string, which may have an unpaired surrogate, unlike a string that `string()` reads.
  private mutating func skipString() throws {
    index += 1
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw error("unescaped control character") }
      index += 1
      guard byte == UInt8(ascii: "\\") else { continue }
      guard let kind = next, "\"\\/bfnrtu".utf8.contains(kind) else {
        throw error("unknown escape")
      }
      index += 1
      if kind == UInt8(ascii: "u") { _ = try fourHexDigits() }
    }
    guard next != nil else { throw error("unterminated string") }
    index += 1
  }
}
