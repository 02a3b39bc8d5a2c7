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
    if PropertyList.isBinary(bytes) {
      return writes(
        try PropertyList.storedMembers(ofBinary: bytes, file: name, limits: .generous))
    }
    if let text = try PropertyList.transcoded(bytes, file: name) {
      guard Self.first(text) == UInt8(ascii: "<") else {
        throw PropertyList.foreignFormat(bytes, file: name) ?? fail("1", Self.notUTF8)
      }
      return try writes(xml: text, isTranscoded: true)
    }
    let bytes = bytes.starts(with: Self.mark) ? Array(bytes.dropFirst(Self.mark.count)) : bytes
    switch Self.first(bytes) {
    // Nothing but a property list starts with it.
    case UInt8(ascii: "<"): return try writes(xml: bytes, isTranscoded: false)
    case UInt8(ascii: "["): return try array(bytes)
    default: return try writes(lines: bytes)
    }
  }

  private func writes(xml bytes: [UInt8], isTranscoded: Bool) throws -> [LocalWrite] {
    let list = try PropertyList.parse(
      bytes, file: name, limits: .generous, isTranscoded: isTranscoded)
    return writes(try list.storedMembers(file: name))
  }

  private func writes(lines bytes: [UInt8]) throws -> [LocalWrite] {
    var writes: [LocalWrite] = []
    let lines = bytes.split(separator: Self.lineFeed, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.allSatisfy(Self.blanks.contains) {
      do {
        writes.append(try write(try json(line, line: index + 1), at: "\(index + 1)"))
      } catch {
        throw writes.isEmpty ? foreignFormat(bytes) ?? error : error
      }
    }
    return writes
  }

  private func writes(_ members: [(key: String, value: StoredValue)]) -> [LocalWrite] {
    members.map { LocalWrite(store: store, key: $0.key, value: $0.value) }
  }

  private static let notUTF8 = "this is not UTF-8; convert the file"
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let lineFeed: UInt8 = 0x0A
  private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]

  /// The first byte that is not white space, nor of a byte order mark.
  static func first(_ bytes: some Sequence<UInt8>) -> UInt8? {
    bytes.first { !blanks.contains($0) && $0 != lineFeed && !mark.contains($0) }
  }

  /// What `export --format json` prints: the same objects in one array.
  private func array(_ bytes: [UInt8]) throws -> [LocalWrite] {
    guard case .array(let elements) = try json(bytes[...], line: nil) else {
      throw fail("1", "this is not an array of objects; mend it")
    }
    return try elements.enumerated().map {
      try write($0.element, at: "1", "element \($0.offset + 1): ")
    }
  }

  func fail(_ place: String, _ message: String) -> InputError {
    InputError(kind: .data, message: "\(name):\(place): \(message)")
  }

  /// - Parameter line: nil for a text that may have several.
  private func json(_ bytes: ArraySlice<UInt8>, line: Int?) throws -> JSON {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw fail("\(line ?? 1)", Self.notUTF8)
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
