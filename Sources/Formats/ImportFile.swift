// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

/// What an input to import says, checked whole before anything is written.
package struct ImportFile {
  let input: ImportInput
  private let store: String

  /// - Parameter store: of lines that name none.
  package init(input: ImportInput, store: String) {
    self.input = input
    self.store = store
  }

  /// Calls `body` for each write, in the order of the input.
  package func forEachWrite(_ body: (TransferLine) throws -> Void) throws {
    let head = try input.head()
    if PropertyList.isBinary(head) { return try forEach(memberOf: whole(), body) }
    if try isWide(head) {
      let bytes = try whole()
      guard let text = try PropertyList.transcoded(bytes, file: input.name),
        ImportInput.first(text) == UInt8(ascii: "<")
      else { throw fail("1", Self.notUTF8) }
      return try forEach(memberOf: bytes, body)
    }
    if head.starts(with: ImportInput.mark) { for _ in ImportInput.mark { input.skip() } }
    switch ImportInput.first(head) {
    // Nothing but a property list starts with it.
    case UInt8(ascii: "<"): try forEach(memberOf: whole(), body)
    case UInt8(ascii: "["): try forEachElement(body)
    default: try forEachLine(body)
    }
  }

  /// Whether these are units of 16 or 32 bits; their first few tell.
  private func isWide(_ head: [UInt8]) throws -> Bool {
    try PropertyList.transcoded(Array(head.prefix(4)), file: input.name) != nil
  }

  private func whole() throws -> [UInt8] {
    let limit = PropertyListLimits.generous.bytes
    guard let bytes = try input.rest(limit: limit) else {
      throw PropertyListError.tooLarge(file: input.name, limit: limit)
    }
    return bytes
  }

  private func forEach(
    memberOf bytes: [UInt8], _ body: (TransferLine) throws -> Void
  ) throws {
    let list = try PropertyList.parse(bytes, file: input.name, limits: .generous)
    for (key, value) in try list.storedMembers(file: input.name) {
      try body(TransferLine(store: store, key: key, content: TaggedCell(value), time: nil))
    }
  }

  private static let notUTF8 = "this is not UTF-8; convert the file"

  func fail(_ place: String, _ message: String) -> InputError {
    InputError(kind: .data, message: "\(input.name):\(place): \(message)")
  }
}

// MARK: - Lines

extension ImportFile {
  private func forEachLine(_ body: (TransferLine) throws -> Void) throws {
    var (line, isEnd) = (0, false)
    while !isEnd {
      line += 1
      isEnd = try !input.gather(line: line) { $0.firstIndex(of: 0x0A) }
      if !isEnd { input.skip() }
      guard !input.part.allSatisfy(ImportInput.isBlank) else { continue }
      let json = try json(at: line, cure: "write one JSON object a line")
      let write = try write(json, at: "\(line)")
      input.drop()
      try body(write)
    }
  }

  /// - Parameters:
  ///   - line: of the part that was gathered.
  ///   - before: how many columns come before it.
  private func json(at line: Int, before: Int = 0, cure: String) throws -> JSON {
    guard let text = String(validating: input.part, as: UTF8.self) else {
      throw fail("\(line)", Self.notUTF8)
    }
    do throws(JSONError) {
      return try JSON(parsing: text)
    } catch {
      throw fail("\(line):\(before + error.column)", "\(error); \(cure)")
    }
  }

  private func write(
    _ json: JSON, at place: @autoclosure () -> String,
    _ prefix: @autoclosure () -> String = ""
  ) throws -> TransferLine {
    do {
      return try TransferLine(json, store: store)
    } catch let error as LineError {
      throw fail(place(), prefix() + error.message)
    }
  }
}

// MARK: - What export --format json prints: the same objects in one array

extension ImportFile {
  private func forEachElement(_ body: (TransferLine) throws -> Void) throws {
    let cure = "write one JSON array"
    // Everything before it, in scalars.
    var column = try skipBlanks() + 1
    input.skip()
    var (number, isOver) = (0, false)
    while !isOver {
      var element = ElementEnd()
      let hasEnd = try input.gather(line: 1) { element.find(in: $0) }
      isOver = try input.next() == UInt8(ascii: "]")
      let length = input.part.count { $0 & 0xC0 != 0x80 }
      if hasEnd, input.part.allSatisfy(ImportInput.isBlank) {
        if isOver, number == 0 { break }
        throw fail("1:\(column + length + 1)", "this is not a JSON value; \(cure)")
      }
      number += 1
      let json = try json(at: 1, before: column, cure: cure)
      column += length + 1
      guard hasEnd else { throw fail("1:\(column)", "expected , or ]; \(cure)") }
      let write = try write(json, at: "1", "element \(number): ")
      input.drop()
      try body(write)
      if !isOver { input.skip() }
    }
    input.skip()
    _ = try skipBlanks()
    guard try input.next() == nil else {
      throw fail("1", "unexpected text after the value; \(cure)")
    }
  }

  /// - Returns: how many.
  private func skipBlanks() throws -> Int {
    var count = 0
    while let byte = try input.next(), ImportInput.isBlank(byte) {
      input.skip()
      count += 1
    }
    return count
  }
}

/// Looks for the comma or the bracket behind an element, whatever the element is.
private struct ElementEnd {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  mutating func find(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    for (place, byte) in bytes.enumerated() {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ","), UInt8(ascii: "]"):
        if depth == 0 { return place }
        if byte == UInt8(ascii: "]") { depth -= 1 }
      case UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return nil
  }
}
