// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

/// The writes that an input to `import` lists, in any of its formats.
package struct ImportFile {
  private let input: ImportInput
  private let store: String

  /// - Parameter store: the store of lines without `"store"`, and of a property list.
  package init(input: ImportInput, store: String) {
    self.input = input
    self.store = store
  }

  /// Calls `body` for each write, in the order of the input.
  package func forEachWrite(_ body: (TransferLine) throws -> Void) throws {
    let head = try input.peek()
    if PropertyList.isBinary(head) { return try forEachMember(body) }
    if PropertyList.isWide(head) { throw inputError(at: "1", Self.notUTF8) }
    input.skip(head.startOfText)
    switch ImportInput.firstContent(of: head) {
    // Only a property list starts with <.
    case UInt8(ascii: "<"): try forEachMember(body)
    case UInt8(ascii: "["): try forEachElement(body)
    default: try forEachLine(body)
    }
  }

  private func forEachMember(_ body: (TransferLine) throws -> Void) throws {
    let limit = PropertyListLimits.generous.bytes
    guard let bytes = try input.rest(limit: limit) else {
      throw PropertyListError.tooLarge(file: input.name, limit: limit)
    }
    let list = try PropertyList.parse(bytes, file: input.name, limits: .generous)
    for (key, value) in try list.storedMembers(file: input.name) {
      try body(TransferLine(store: store, key: key, content: TaggedCell(value), time: nil))
    }
  }

  private static let notUTF8 = "this is not UTF-8; convert the file"

  private func inputError(at place: String, _ message: String) -> InputError {
    InputError(kind: .data, message: "\(input.name):\(place): \(message)")
  }

  // MARK: - Lines

  private func forEachLine(_ body: (TransferLine) throws -> Void) throws {
    var (line, isEnd) = (0, false)
    while !isEnd {
      line += 1
      isEnd = try !input.readPart(line: line, upTo: 0x0A)
      guard !input.part.allSatisfy(\.isSpace) else { continue }
      let json = try json(at: line, cure: "write one JSON object a line")
      let write = try transferLine(json, at: "\(line)")
      input.releasePart()
      try body(write)
    }
  }

  /// Reads the output of export --format json: the same objects in one array, read as one part.
  private func forEachElement(_ body: (TransferLine) throws -> Void) throws {
    _ = try input.readPart(line: 1)
    let array = try json(at: 1, cure: "write one JSON array")
    input.releasePart()
    guard case .array(let elements) = array else { return }
    for (place, element) in elements.enumerated() {
      try body(transferLine(element, at: "1", prefix: "element \(place + 1): "))
    }
  }

  /// - Parameter line: the line of the input's part.
  private func json(at line: Int, cure: String) throws -> JSON {
    guard let text = String(validating: input.part, as: UTF8.self) else {
      throw inputError(at: "\(line)", Self.notUTF8)
    }
    do throws(JSONError) {
      return try JSON(parsing: text)
    } catch {
      let cure = error.column == 1 ? cure : "fix it"
      throw inputError(at: "\(line):\(error.column)", "\(error); \(cure)")
    }
  }

  private func transferLine(
    _ json: JSON, at place: @autoclosure () -> String,
    prefix: @autoclosure () -> String = ""
  ) throws -> TransferLine {
    do throws(ValueError) {
      return try TransferLine(json, store: store)
    } catch {
      throw inputError(at: place(), prefix() + "\(error)")
    }
  }
}
