// SPDX-License-Identifier: Apache-2.0
//
// A position in the bytes of an XML file, and the lexical rules that XML shares with other formats.
//
// Invariants: eight added NULs follow the file in `bytes`, from `end` on, and no byte of the file
// after the XML declaration is NUL (`CharacterCheck`). So a byte, and a word of eight, may be read
// wherever `index <= end`, and a loop over a class of bytes stops at the end. `index` never exceeds
// `end`.

struct XMLCursor {
  let bytes: [UInt8]
  let end: Int
  var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes + [UInt8](repeating: 0, count: 8)
    end = bytes.count
  }

  var byte: UInt8 { bytes[index] }
  var isAtEnd: Bool { index >= end }

  func at(_ text: StaticString) -> Bool { bytes.matches(text, at: index) }

  mutating func take(_ text: StaticString) -> Bool {
    guard at(text) else { return false }
    index += text.utf8CodeUnitCount
    return true
  }

  /// Takes a `>`.
  mutating func takeClose() -> Bool {
    guard bytes[index] == UInt8(ascii: ">") else { return false }
    index += 1
    return true
  }

  /// - Returns: whether there was white space.
  @discardableResult mutating func skipSpace() -> Bool {
    let start = index
    while bytes[index].isSpace { index += 1 }
    return index > start
  }

  /// The range of a name, which may be empty.
  mutating func name() -> Range<Int> {
    let start = index
    while bytes[index].isName { index += 1 }
    return start..<index
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// The range within single or double quotes; nil, and no step, if there is no literal.
  mutating func literal() -> Range<Int>? {
    guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { return nil }
    guard let close = bytes[(index + 1)..<end].firstIndex(of: byte) else { return nil }
    let start = index + 1
    index = close + 1
    return start..<close
  }

  /// `fault`, unless no `>` follows `start`: then the file ends within the markup.
  func fault(_ fault: Fault, from start: Int, inside what: String) -> Fault {
    bytes[start..<end].contains(UInt8(ascii: ">")) ? fault : endOfFile(inside: what)
  }

  func endOfFile(inside what: String, related: Fault.Related? = nil) -> Fault {
    Fault(
      .unexpectedEnd, at: end, "the file ends inside \(what)",
      cure: "complete it, or fetch the file again", related: related)
  }
}

// MARK: - Comments and processing instructions

extension XMLCursor {
  /// Skips white space, comments and processing instructions.
  mutating func skipMisc() throws(Fault) {
    while true {
      skipSpace()
      guard byte == UInt8(ascii: "<") else { return }
      switch bytes[index + 1] {
      case UInt8(ascii: "!"):
        guard at("<!--") else { return }
        try comment()
      case UInt8(ascii: "?"): try instruction()
      default: return
      }
    }
  }

  private mutating func comment() throws(Fault) {
    let start = index
    index += 4
    while true {
      while byte != UInt8(ascii: "-"), !isAtEnd { index += 1 }
      if isAtEnd { throw endOfFile(inside: "a comment", related: .opened(start)) }
      if take("-->") { return }
      if at("--") {
        let fault = Fault(
          .malformedComment, at: index, "a comment must not contain --",
          cure: "write it with single hyphens", related: .opened(start))
        throw self.fault(fault, from: index, inside: "a comment")
      }
      index += 1
    }
  }

  private mutating func instruction() throws(Fault) {
    let start = index
    index += 2
    let target = name()
    guard let first = target.first, !bytes[first].isDigit, bytes[first] != UInt8(ascii: "-"),
      bytes[first] != UInt8(ascii: "."), byte.isSpace || at("?>")
    else {
      let fault = Fault(
        .malformedInstruction, at: start, "a processing instruction starts with a name",
        cure: "remove it")
      throw self.fault(fault, from: start, inside: "a processing instruction")
    }
    if target.count == 3, text(target).lowercased() == "xml" {
      throw Fault(
        .malformedDeclaration, at: start,
        "an XML declaration is allowed only at the start of the file", cure: "remove this one")
    }
    while !take("?>") {
      if isAtEnd { throw endOfFile(inside: "a processing instruction", related: .opened(start)) }
      index += 1
    }
  }
}

extension Fault.Related {
  static func opened(_ offset: Int) -> Fault.Related {
    Fault.Related(relation: "opened at", offset: offset)
  }
}
