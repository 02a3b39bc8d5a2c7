// SPDX-License-Identifier: Apache-2.0
//
// The names of an object's members, and the detection of duplicates.

extension JSONScanner {
  /// - Returns: the index of the name's opening quote.
  mutating func startOfName() throws(JSONError) -> Int {
    skipSpace()
    guard next == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
    return index
  }

  func duplicateName(at start: Int) -> JSONError { error("duplicate name", at: start) }

  /// The name of the only member of the object that begins here, if it starts with `$`.
  var markerName: String? {
    var ahead = self
    ahead.index += 1
    ahead.skipSpace()
    guard ahead.next == UInt8(ascii: "\""), ahead.index + 1 < bytes.count,
      bytes[ahead.index + 1] == UInt8(ascii: "$") || bytes[ahead.index + 1] == UInt8(ascii: "\\")
    else { return nil }
    // The parser reports malformed JSON when it reads this object.
    guard
      case .success(let name) = Result(catching: { () throws(JSONError) in try ahead.string() }),
      name.utf8.first == UInt8(ascii: "$"), ahead.accept(UInt8(ascii: ":"))
    else { return nil }
    ahead.skipValue()
    return ahead.accept(UInt8(ascii: "}")) ? name : nil
  }

  /// Skips a value without validating it.
  mutating func skipValue() {
    var depth = 0
    skipSpace()
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""): skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
        index += 1
      case UInt8(ascii: ","):
        if depth == 0 { return }
        index += 1
      default: index += 1
      }
    }
  }

  mutating func skipString() {
    index += 1
    while let byte = next {
      index += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return }
    }
    index = min(index, bytes.count)
  }

  /// Calls `body` for the names of the object at `start`, until it returns false. The object must
  /// have been read up to `end`.
  static func forEachName(
    in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int,
    _ body: (MemberName) -> Bool
  ) {
    var scanner = JSONScanner(bytes)
    scanner.index = start + 1
    repeat {
      scanner.skipSpace()
      let name = scanner.index
      guard name < end, scanner.next == UInt8(ascii: "\"") else { return }
      scanner.skipString()
      guard body(MemberName(bytes, name + 1..<scanner.index - 1)) else { return }
      _ = scanner.accept(UInt8(ascii: ":"))
      scanner.skipValue()
    } while scanner.accept(UInt8(ascii: ","))
  }
}

/// A name as it is in the text, between its quotes.
struct MemberName {
  let spelling: UnsafeBufferPointer<UInt8>
  /// The index in the text.
  let place: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    spelling = UnsafeBufferPointer(rebasing: bytes[range])
    place = range.lowerBound
  }

  private var hasEscapes: Bool { spelling.contains(UInt8(ascii: "\\")) }

  /// Whether the name is ASCII without escapes: no other such name is canonically equivalent to it.
  var isPlain: Bool { spelling.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\\") } }

  var string: String {
    guard hasEscapes else { return String(decoding: spelling, as: UTF8.self) }
    let quoted = [UInt8(ascii: "\"")] + spelling + [UInt8(ascii: "\"")]
    return quoted.withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      // Cannot fail: the scanner has read it before.
      guard
        case .success(let name) = Result(
          catching: { () throws(JSONError) in try scanner.string() })
      else { return "" }
      return name
    }
  }

  /// Compares the unescaped bytes: negative if this name comes first.
  func compare(_ other: MemberName) -> Int {
    if hasEscapes || other.hasEscapes {
      let (one, two) = (ByteText(string), ByteText(other.string))
      return one == two ? 0 : one < two ? -1 : 1
    }
    for (one, two) in zip(spelling, other.spelling) where one != two {
      return Int(one) - Int(two)
    }
    return spelling.count - other.spelling.count
  }
}

/// The names of an object read so far. Sorted ASCII names need no memory; of other names it keeps a
/// hash each.
struct MemberNames {
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The index of the object.
  private let start: Int
  private var last: MemberName?
  private var hashes: Set<Int>?
  /// Whether the names are sorted by their bytes.
  private(set) var isOrdered = true

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
    self.bytes = bytes
    self.start = start
  }

  /// - Returns: whether it is new.
  mutating func insert(_ name: MemberName) -> Bool {
    let order = last.map { name.compare($0) } ?? 1
    last = name
    if order < 0 { isOrdered = false }
    if hashes == nil, order > 0, name.isPlain { return true }
    if hashes == nil { hashes = earlier(than: name) }
    if hashes?.insert(name.string.hashValue).inserted == true { return true }
    // The hashes are equal; the names may still differ.
    let text = name.string
    var isNew = true
    JSONScanner.forEachName(in: bytes, from: start, to: name.place - 1) {
      isNew = $0.string != text
      return isNew
    }
    return isNew
  }

  private func earlier(than name: MemberName) -> Set<Int> {
    var hashes: Set<Int> = []
    JSONScanner.forEachName(in: bytes, from: start, to: name.place - 1) {
      hashes.insert($0.string.hashValue)
      return true
    }
    return hashes
  }
}
