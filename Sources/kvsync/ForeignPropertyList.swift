// SPDX-License-Identifier: Apache-2.0
//
// Property lists that are no XML in UTF-8, read by Foundation: the files of `UserDefaults` are
// binary on a Mac. Foundation gives them without places, so a complaint names the key only.

import Foundation
import KeepsakeValues

enum ForeignPropertyList {
  /// Whether these are the bytes of a binary property list, or of one in UTF-16 or UTF-32.
  static func isLike(_ bytes: [UInt8]) -> Bool {
    let starts: [[UInt8]] = [
      Array("bplist".utf8), [0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF],
    ]
    return starts.contains { bytes.starts(with: $0) }
  }

  /// The members of the root dictionary, by the bytes of their keys.
  static func members(
    _ bytes: [UInt8], file: String
  ) throws -> [(key: String, value: StoredValue)] {
    func fail(_ message: String) -> InputError {
      InputError(kind: .data, message: "\(file): \(message)")
    }
    let damage = fail("this property list is damaged; restore a copy of it")
    var format = PropertyListSerialization.PropertyListFormat.xml
    let list: Any
    do {
      list = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
    } catch {
      throw damage
    }
    // Foundation takes what is left of a binary list for text.
    if bytes.starts(with: "bplist".utf8), format != .binary { throw damage }
    guard let table = list as? [String: Any] else {
      throw fail("the root is not a dictionary; put the value into one")
    }
    return try table.sorted { ByteText($0.key) < ByteText($1.key) }.map { key, value in
      if key.isEmpty { throw fail("a key is empty; give it a name") }
      guard let stored = Self.value(value, depth: 0) else {
        throw fail(
          "the value of \(JSON.string(key).text()) cannot be stored: an integer above \(Int64.max),"
            + " an archive, or values nested too deep; remove it")
      }
      return (key, stored)
    }
  }

  /// Nil for what no store can hold.
  private static func value(_ any: Any, depth: Int) -> StoredValue? {
    switch any {
    case let text as String: return .string(text)
    case let date as Date: return .date(date)
    case let bytes as Data: return .data(bytes)
    case let number as NSNumber: return value(number)
    case let elements as [Any]:
      guard depth < StoredValue.maximumDepth else { return nil }
      let list = elements.compactMap { value($0, depth: depth + 1) }
      return list.count == elements.count ? .array(list) : nil
    case let members as [String: Any]:
      guard depth < StoredValue.maximumDepth else { return nil }
      let table = members.compactMapValues { value($0, depth: depth + 1) }
      return table.count == members.count ? .dictionary(table) : nil
    default: return nil
    }
  }

  /// The kind of a number is in its Objective-C type, everywhere: `as? Bool` takes 1 for true.
  private static func value(_ number: NSNumber) -> StoredValue? {
    switch String(cString: number.objCType) {
    case "c", "B": .boolean(number.boolValue)
    case "d", "f": .real(number.doubleValue)
    default: Int64(number.stringValue).map(StoredValue.integer)
    }
  }
}
