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
    if PropertyList.isWide(head) { throw fail("1", Self.notUTF8) }
    if head.starts(with: ImportInput.mark) { for _ in ImportInput.mark { input.skip() } }
    switch ImportInput.first(head) {
    // Nothing but a property list starts with it.
    case UInt8(ascii: "<"): try forEach(memberOf: whole(), body)
    case UInt8(ascii: "["): try forEachElement(body)
    default: try forEachLine(body)
    }
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
      isEnd = try !input.gather(line: line, upTo: 0x0A)
      if !isEnd { input.skip() }
      guard !input.part.allSatisfy(ImportInput.isBlank) else { continue }
      let json = try json(at: line, cure: "write one JSON object a line")
      let write = try write(json, at: "\(line)")
      input.drop()
      try body(write)
    }
  }

  /// Reads the output of export --format json: the same objects in one array, read as one part.
  private func forEachElement(_ body: (TransferLine) throws -> Void) throws {
    _ = try input.gather(line: 1)
    let array = try json(at: 1, cure: "write one JSON array")
    input.drop()
    guard case .array(let elements) = array else { return }
    for (place, element) in elements.enumerated() {
      try body(write(element, at: "1", "element \(place + 1): "))
    }
  }

  /// - Parameter line: of the part that was gathered.
  private func json(at line: Int, cure: String) throws -> JSON {
    guard let text = String(validating: input.part, as: UTF8.self) else {
      throw fail("\(line)", Self.notUTF8)
    }
    do throws(JSONError) {
      return try JSON(parsing: text)
    } catch {
      throw fail("\(line):\(error.column)", "\(error); \(error.column == 1 ? cure : "fix it")")
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
