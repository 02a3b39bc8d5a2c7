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
    // Only a property list starts with `<` (XML) or `bplist` (binary, which the parser names).
    if bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "<")
      || bytes.starts(with: "bplist".utf8)
    {
      let members = try PropertyList.parse(bytes, file: name).storedMembers(file: name)
      return members.map { LocalWrite(store: store, key: $0.key, value: $0.value) }
    }
    var writes: [LocalWrite] = []
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
    where line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) {
      writes.append(try write(line, number: index + 1))
    }
    return writes
  }

  private func fail(_ line: Int, _ message: String, column: Int? = nil) -> InputError {
    let place = column.map { "\(line):\($0)" } ?? "\(line)"
    return InputError(kind: .data, message: "\(name):\(place): \(message)")
  }

  private func write(_ line: ArraySlice<UInt8>, number: Int) throws -> LocalWrite {
    guard let text = String(validating: line, as: UTF8.self) else {
      throw fail(number, "this line is not UTF-8; convert the file")
    }
    let json: JSON
    do {
      json = try JSON(parsing: text)
    } catch {
      throw fail(number, "\(error); write one JSON object a line", column: error.column)
    }
    return try write(json, number: number)
  }

  private func write(_ json: JSON, number: Int) throws -> LocalWrite {
    guard case .object(let members) = json else {
      throw fail(number, "this is not an object; write {\"key\":…,\"type\":…,\"value\":…}")
    }
    let known: Set = ["store", "key", "type", "value", "deleted", "at"]
    if let unknown = members.first(where: { !known.contains($0.name) }) {
      throw fail(
        number,
        "there is no member \"\(unknown.name)\"; use \(known.sorted().joined(separator: ", "))")
    }
    guard case .string(let key)? = json["key"], !key.isEmpty else {
      throw fail(number, "there is no key; add \"key\" with a text that is not empty")
    }
    guard case .string(let store) = json["store"] ?? .string(store), !store.isEmpty else {
      throw fail(number, "the store is not a name; write a text that is not empty")
    }
    return LocalWrite(
      store: store, key: key, value: try value(json, number), wallClock: try time(json, number))
  }

  private func value(_ json: JSON, _ number: Int) throws -> StoredValue? {
    switch (json["deleted"], json["type"], json["value"]) {
    case (.boolean(true)?, nil, nil): return nil
    case (nil, .string(let name)?, let value?):
      guard let kind = StoredValue.Kind(rawValue: name), kind != .opaque else {
        throw fail(
          number,
          "there is no type \"\(name)\"; use string, integer, real, boolean, date, data,"
            + " array or dictionary")
      }
      do {
        return try value.storedValue(of: kind)
      } catch {
        throw fail(number, "the value is not of type \(name): \(error)")
      }
    default:
      throw fail(number, "a line has either type and value, or \"deleted\":true; mend it")
    }
  }

  private func time(_ json: JSON, _ number: Int) throws -> Int64? {
    let milliseconds: Int64? =
      switch json["at"] {
      case nil: nil
      case .integer(let number)?: number
      case .string(let text)?: ISO8601.milliseconds(text) ?? -1
      default: -1
      }
    guard let milliseconds else { return nil }
    guard (0...HybridTimestamp.maximumMilliseconds).contains(milliseconds) else {
      throw fail(
        number, "\"at\" is not a time from 1970 to 6429; write ISO 8601, or milliseconds since 1970"
      )
    }
    return milliseconds
  }
}
