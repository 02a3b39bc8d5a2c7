// SPDX-License-Identifier: Apache-2.0
//
// The grammar of a property list over `XMLCursor`. Iterative: open containers are frames on
// `stack`, so hostile nesting reaches the depth limit before it overflows the thread's stack.
//
// Invariants between elements:
// - `stack` has at most `limits.effectiveDepth` frames, `elements` is at most `limits.elements`;
// - a frame has a pending key only if it is a dictionary whose last `<key>` has no value yet;
// - `root` is nil until the value of `<plist>` is complete.

struct PropertyListParser {
  let limits: PropertyListLimits
  var cursor: XMLCursor
  private var stack: [PropertyListFrame] = []
  private var root: PropertyListNode?
  private var recentKeys = RecentKeys()
  private(set) var elements = 0

  init(_ bytes: [UInt8], limits: PropertyListLimits) {
    self.limits = limits
    cursor = XMLCursor(bytes)
  }

  mutating func document() throws(Fault) -> PropertyListNode {
    try prolog()
    while true {
      try cursor.skipMisc()
      guard cursor.byte == UInt8(ascii: "<") else { throw noElement }
      if cursor.bytes[cursor.index + 1] != UInt8(ascii: "/") {
        try element()
      } else if !stack.isEmpty {
        try closeContainer()
      } else {
        return try close()
      }
    }
  }

  /// The index of the innermost open container. `stack` must not be empty.
  private var top: Int { stack.count - 1 }

  /// The key path of the parser's position; nil at the root.
  var keyPath: String? { PropertyListFrame.keyPath(of: stack) }

  // MARK: - The document

  /// Reads everything before the first value.
  private mutating func prolog() throws(Fault) {
    let isOther = try cursor.declaration()
    if isOther { try cursor.checkASCII() }
    try CharacterCheck.check(cursor.bytes, in: cursor.index..<cursor.end)
    try cursor.skipMisc()
    try cursor.doctype()
    try cursor.skipMisc()
    let start = cursor.index
    guard cursor.take("<plist"), !cursor.byte.isName else {
      throw Fault(
        .unexpectedElement, at: start, "the first element is not <plist>",
        cure: "wrap the value in <plist version=\"1.0\"> and </plist>, if this is a property list")
    }
    guard cursor.skipTag() else { throw malformed("<plist>") }
    if cursor.bytes[cursor.index - 2] == UInt8(ascii: "/") { throw noValue(at: cursor.index - 2) }
  }

  private mutating func close() throws(Fault) -> PropertyListNode {
    let start = cursor.index
    try closingTag("plist")
    guard let root else { throw noValue(at: start) }
    try cursor.skipMisc()
    guard cursor.isAtEnd else {
      throw Fault(
        .contentAfterRoot, at: cursor.index, "content after </plist>",
        cure: "remove everything after it")
    }
    return root
  }

  private func noValue(at offset: Int) -> Fault {
    Fault(.missingValue, at: offset, "<plist> has no value", cure: "put a <dict> into it")
  }

  private var noElement: Fault {
    let name = stack.last?.tag.text ?? "plist"
    if cursor.isAtEnd { return cursor.endOfFile(inside: "<\(name)>") }
    return Fault(
      .unexpectedText, at: cursor.index, "text between the elements of <\(name)>",
      cure: "remove it, or move it into a <string>")
  }

  // MARK: - Elements

  private mutating func element() throws(Fault) {
    let start = cursor.index
    try countElement(at: start)
    let (name, isEmpty) = try openingTag()
    if name == .key {
      try key(at: start, isEmpty: isEmpty)
      return
    }
    try checkValue(at: start)
    guard name == .array || name == .dict else {
      place(try scalar(name, at: start, isEmpty: isEmpty), at: start)
      return
    }
    guard stack.count < limits.effectiveDepth else {
      throw Fault(
        .tooDeep, at: start, "arrays and dictionaries nest deeper than \(limits.effectiveDepth)",
        cure: "flatten the file, or raise the limit")
    }
    stack.append(PropertyListFrame(isDictionary: name == .dict, offset: UInt32(start)))
    if isEmpty { try finishContainer(at: start) }
  }

  private mutating func countElement(at start: Int) throws(Fault) {
    guard elements < limits.elements else {
      throw Fault(
        .tooManyElements, at: start, "the file has more than \(limits.elements) elements",
        cure: "split it, or raise the limit")
    }
    elements += 1
  }

  /// Throws if no value may start here.
  private func checkValue(at start: Int) throws(Fault) {
    // Indexing avoids copies of frames, here and below: they would take longer than the parsing.
    if !stack.isEmpty {
      guard stack[top].isDictionary, stack[top].key == nil else { return }
      throw Fault(
        .missingKey, at: start, "this value in <dict> has no key", cure: "put a <key> before it")
    }
    if root != nil {
      throw Fault(.contentAfterRoot, at: start, "<plist> has a second value", cure: "remove it")
    }
  }

  private mutating func key(at start: Int, isEmpty: Bool) throws(Fault) {
    guard !stack.isEmpty, stack[top].isDictionary else {
      throw Fault(
        .unexpectedElement, at: start, "<key> outside a <dict>",
        cure: "move it into a <dict>, or write <string>")
    }
    if let pending = stack[top].key { throw Self.noValue(for: pending, at: start) }
    if !isEmpty,
      let key = recentKeys.find(in: cursor.bytes, at: cursor.index, limit: limits.textBytes)
    {
      cursor.index += key.count
      try stack[top].open(key: key.text, at: UInt32(start), slot: key.slot)
    } else {
      let text = isEmpty ? "" : try string(.key, at: start)
      try stack[top].open(key: text, at: UInt32(start))
    }
  }

  private static func noValue(for key: PropertyListFrame.Key, at offset: Int) -> Fault {
    Fault(
      .missingValue, at: offset, "the key \(key.text.quoted) has no value",
      cure: "put a value after it")
  }

  private mutating func closeContainer() throws(Fault) {
    let start = cursor.index
    try closingTag(stack[top].tag)
    try finishContainer(at: start)
  }

  private mutating func finishContainer(at end: Int) throws(Fault) {
    if let pending = stack[top].key { throw Self.noValue(for: pending, at: end) }
    guard let frame = stack.popLast() else { return }
    place(frame.value, at: Int(frame.offset))
  }

  private mutating func place(_ value: consuming PropertyListNode.Value, at start: Int) {
    let node = PropertyListNode(offset: UInt32(start), value)
    if stack.isEmpty {
      root = node
    } else {
      stack[top].place(node)
    }
  }

  // MARK: - Tags

  /// Reads `<name>` or `<name/>`, whatever attributes it has.
  private mutating func openingTag() throws(Fault) -> (name: ElementName, isEmpty: Bool) {
    if let name = plainTag() { return (name, false) }
    let start = cursor.index
    cursor.index += 1
    let range = cursor.name()
    guard let name = ElementName(cursor.bytes, in: range) else {
      throw unknown(range, at: start)
    }
    if cursor.take("/>") { return (name, true) }
    guard cursor.byte.isSpace, cursor.skipTag() else { throw malformed("<\(name.text)>") }
    return (name, cursor.bytes[cursor.index - 2] == UInt8(ascii: "/"))
  }

  /// Reads a tag that is exactly `<name>`: the fast path for nearly all tags.
  private mutating func plainTag() -> ElementName? {
    let word = cursor.bytes.word(at: cursor.index + 1)
    guard let length = word.firstByte(UInt8(ascii: ">")),
      let name = ElementName(rawValue: word.lowest(length))
    else { return nil }
    cursor.index += length + 2
    return name
  }

  /// Reads `</name>`.
  mutating func closingTag(_ name: ElementName) throws(Fault) {
    let after = cursor.index + 2 + name.count
    guard after <= cursor.end, cursor.bytes[after] == UInt8(ascii: ">"),
      cursor.bytes.word(at: cursor.index + 2).lowest(name.count) == name.rawValue
    else { return try closingTag(name.text) }
    cursor.index = after + 1
  }

  /// Reads a closing tag with white space or faults.
  private mutating func closingTag(_ name: String) throws(Fault) {
    let start = cursor.index
    cursor.index += 2
    let found = cursor.name()
    // Comparing texts would sort a run of combining marks.
    guard cursor.bytes[found].elementsEqual(name.utf8) else {
      throw Fault(
        .mismatchedTag, at: start, "expected </\(name)>", cure: "close the element that is open")
    }
    cursor.skipSpace()
    guard cursor.take(">") else { throw malformed("</\(name)>") }
  }

  /// The fault at the cursor, within a tag.
  private func malformed(_ tag: String) -> Fault {
    Fault(
      .malformedTag, at: cursor.index, "\(tag) is malformed here", cure: "close the tag with >")
  }

  private func unknown(_ name: Range<Int>, at start: Int) -> Fault {
    guard !name.isEmpty else {
      return Fault(
        .malformedTag, at: start, "< does not start a tag here",
        cure: "write &lt; for the character")
    }
    return Fault(
      .unexpectedElement, at: start,
      "\(cursor.text(name).quoted) is not an element of a property list",
      cure: "remove it, or write its name in lower case")
  }
}
