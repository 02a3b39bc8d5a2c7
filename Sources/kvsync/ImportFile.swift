// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues

/// What a file to import says, checked whole before anything is written.
struct ImportFile {
  /// For messages.
  let name: String
  /// The store of lines that name none.
  let store: String

  func writes(_ bytes: [UInt8]) throws -> [LocalWrite] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    let first = bytes.first { !Self.blanks.contains($0) && $0 != Self.lineFeed }
    // Only a property list starts with `<`, or as `ForeignPropertyList` knows it.
    if first == UInt8(ascii: "<") {
      let list = try PropertyList.parse(bytes, file: name, limits: .generous)
      return writes(try list.storedMembers(file: name))
    }
    if ForeignPropertyList.isLike(bytes) {
      return writes(try ForeignPropertyList.members(bytes, file: name))
    }
    if first == UInt8(ascii: "[") { return try array(bytes) }
    var writes: [LocalWrite] = []
    let lines = bytes.split(separator: Self.lineFeed, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.allSatisfy(Self.blanks.contains) {
      let place = "\(index + 1)"
      writes.append(try write(try json(line, line: index + 1), at: place))
    }
    return writes
  }

  private func writes(_ members: [(key: String, value: StoredValue)]) -> [LocalWrite] {
    members.map { LocalWrite(store: store, key: $0.key, value: $0.value) }
  }

  private static let lineFeed: UInt8 = 0x0A
  private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]

  /// What `export --format json` prints: the same objects in one array.
  private func array(_ bytes: [UInt8]) throws -> [LocalWrite] {
    guard case .array(let elements) = try json(bytes[...], line: nil) else {
      throw fail("1", "this is not an array of objects; mend it")
    }
    return try elements.enumerated().map {
      try write($0.element, at: "1", "element \($0.offset + 1): ")
    }
  }

  private func fail(_ place: String, _ message: String) -> InputError {
    InputError(kind: .data, message: "\(name):\(place): \(message)")
  }

  /// - Parameter line: nil for a text that may have several.
  private func json(_ bytes: ArraySlice<UInt8>, line: Int?) throws -> JSON {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw fail("\(line ?? 1)", "this is not UTF-8; convert the file")
    }
    do {
      return try JSON(parsing: text)
    } catch {
      let cure = line == nil ? "write one JSON array" : "write one JSON object a line"
      throw fail("\(line ?? 1):\(error.column)", "\(error); \(cure)")
    }
  }

  private func write(_ json: JSON, at place: String, _ prefix: String = "") throws -> LocalWrite {
    do {
      let line = try TransferLine(json, store: store)
      return LocalWrite(store: line.store, key: line.key, value: line.value, wallClock: line.time)
    } catch let error as LineError {
      throw fail(place, prefix + error.message)
    }
  }
}
