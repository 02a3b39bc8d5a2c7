// SPDX-License-Identifier: Apache-2.0
//
// One line of what `export` writes and `import` reads.
//
// - A date has its exact number beside the ISO text, which is rounded to milliseconds:
//   `"seconds"`, since 2001.
// - Arrays and dictionaries are as in the file, with exact numbers throughout.
// - A value that this version cannot read is `"type":"opaque"`, with the number of its type in
//   `"tag"`.

import KeepsakeValues

struct TransferLine {
  let store: String
  let key: String
  /// Nil is a deletion.
  let value: StoredValue?
  /// The clock for this line, in milliseconds since 1970.
  let time: Int64?
}

/// What is wrong with a line; what to do.
struct LineError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

// MARK: - Writing

extension TransferLine {
  init(_ entry: Entry) {
    self.init(
      store: entry.address.store.string, key: entry.address.key.string,
      value: entry.content.value, time: entry.stamp.milliseconds)
  }

  var json: JSON {
    get throws {
      let address = [
        JSON.Member("store", .string(store)), JSON.Member("key", .string(key)),
      ]
      let content = try value.map(Self.members) ?? [JSON.Member("deleted", .boolean(true))]
      return .object(address + content + (time.map { [JSON.Member("at", Shown.time($0))] } ?? []))
    }
  }

  private static func members(_ value: StoredValue) throws -> [JSON.Member] {
    let type = JSON.Member("type", .string(value.kind.rawValue))
    switch value {
    case .array, .dictionary:
      return [type, JSON.Member("value", try JSON(storing: value))]
    case .date(let date):
      let shown = JSON.Member("value", try JSON(showing: value))
      let seconds = try JSON(showing: .real(date.timeIntervalSinceReferenceDate))
      return shown.value == seconds
        ? [type, shown] : [type, shown, JSON.Member("seconds", seconds)]
    case .opaque(let opaque):
      return [
        type, JSON.Member("tag", .integer(opaque.tag)), JSON.Member("value", try opaque.json),
      ]
    default:
      return [type, JSON.Member("value", try JSON(showing: value))]
    }
  }
}

// MARK: - Reading

extension TransferLine {
  private static let members: Set = [
    "store", "key", "type", "value", "seconds", "tag", "deleted", "at",
  ]

  /// - Parameter store: the store of a line that names none.
  init(_ json: JSON, store: String) throws {
    guard case .object(let members) = json else {
      throw LineError("this is not an object; write {\"key\":…,\"type\":…,\"value\":…}")
    }
    if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
      throw LineError(
        "there is no member \"\(unknown.name)\"; use "
          + Self.members.sorted().joined(separator: ", ")
      )
    }
    guard Set(members.map { ByteText($0.name) }).count == members.count else {
      throw LineError("a member is there twice; keep one")
    }
    guard case .string(let key)? = json["key"], !key.isEmpty else {
      throw LineError("there is no key; add \"key\" with a text that is not empty")
    }
    guard case .string(let store) = json["store"] ?? .string(store), !store.isEmpty else {
      throw LineError("the store is not a name; write a text that is not empty")
    }
    self.init(store: store, key: key, value: try Self.value(json), time: try Self.time(json))
  }

  private static func value(_ json: JSON) throws -> StoredValue? {
    switch (json["deleted"], json["type"], json["value"]) {
    case (.boolean(true)?, nil, nil): return nil
    case (nil, .string(let name)?, let value?):
      guard let kind = StoredValue.Kind(rawValue: name) else {
        throw LineError(
          "there is no type \"\(name)\"; use string, integer, real, boolean, date, data,"
            + " array or dictionary")
      }
      do {
        if kind == .opaque { return .opaque(try OpaqueValue(tag: json["tag"], value)) }
        let read = try value.storedValue(of: kind)
        _ = try TaggedCell(read)  // Throws for what nests too deep to be stored.
        return try json["seconds"].map { try exact($0, read) } ?? read
      } catch let error as ValueError {
        throw LineError("the value is not of type \(name): \(error)")
      }
    default:
      throw LineError("a line has either type and value, or \"deleted\":true; mend it")
    }
  }

  /// The date that `value` is the rounded text of.
  private static func exact(_ seconds: JSON, _ value: StoredValue) throws -> StoredValue {
    let exact = try JSON.object(["$date": seconds]).storedValue()
    guard case .date = value, try JSON(showing: exact) == JSON(showing: value) else {
      throw LineError(
        "\"seconds\" is not the time of \"value\"; change both, or leave \"seconds\" out")
    }
    return exact
  }

  private static func time(_ json: JSON) throws -> Int64? {
    let milliseconds: Int64? =
      switch json["at"] {
      case nil: nil
      case .integer(let number)?: number
      case .string(let text)?: ISO8601.milliseconds(text) ?? -1
      default: -1
      }
    guard let milliseconds else { return nil }
    guard (0...HybridTimestamp.maximumMilliseconds).contains(milliseconds) else {
      throw LineError(
        "\"at\" is not a time from 1970 to 6429; write ISO 8601, or milliseconds since 1970")
    }
    return milliseconds
  }
}
