// SPDX-License-Identifier: Apache-2.0
//
// A row as a line of a message: in the words of `kvsync export`, and without loss.
//
// - An integer beyond 2^53 is text: browsers and jq read numbers as floating-point ones.
// - A date has its exact number in `"seconds"`, since 2001; its text is for people.
// - What this version cannot read has the number of its type in `"type"`, and its column as an
//   object of one member: `text`, `integer`, `real` or `blob`.

import Foundation
import KeepsakeValues

enum RowLine {
  /// The maximum number of values and names in a row: more than a value of a store that syncs, of
  /// 1 MiB, can have.
  private static let maximumItems = 600_000
  private static let exact: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

  // MARK: - Writing

  /// - Parameter seq: of a row that a hub has.
  static func json(_ entry: Entry, seq: Int64? = nil) throws(ValueError) -> JSON {
    var members = [
      JSON.Member("store", .string(entry.address.store.string)),
      JSON.Member("key", .string(entry.address.key.string)),
    ]
    members += try content(entry.content)
    members += [
      JSON.Member("stamp", .string(entry.timestamp.description)),
      JSON.Member("origin", .string(entry.origin.description)),
    ]
    if let seq { members.append(JSON.Member("seq", .integer(seq))) }
    return .object(members)
  }

  private static func content(_ content: TaggedCell) throws(ValueError) -> [JSON.Member] {
    guard let value = content.value else { return [JSON.Member("deleted", .boolean(true))] }
    let type = JSON.Member("type", .string(value.kind.rawValue))
    switch value {
    case .array, .dictionary:
      let json = try JSON(storing: value)
      // The reader would write the text of another program differently.
      guard content.cell == .text(json.text()) else { return try column(of: content) }
      return [type, JSON.Member("value", json)]
    case .opaque: return try column(of: content)
    case .integer(let number):
      let isExact = exact.contains(number)
      return [type, JSON.Member("value", isExact ? .integer(number) : .string(String(number)))]
    case .date(let date):
      let seconds = JSON.Member(
        "seconds", try JSON(showing: .real(date.timeIntervalSinceReferenceDate)))
      return [type, JSON.Member("value", try JSON(showing: value)), seconds]
    default: return [type, JSON.Member("value", try JSON(showing: value))]
    }
  }

  private static func column(of content: TaggedCell) throws(ValueError) -> [JSON.Member] {
    [
      JSON.Member("type", .integer(content.tag)),
      JSON.Member("value", try column(content.cell)),
    ]
  }

  private static func column(_ cell: Cell) throws(ValueError) -> JSON {
    switch cell {
    case .null: .object([])
    case .text(let text): .object([JSON.Member("text", .string(text))])
    case .integer(let number): .object([JSON.Member("integer", .string(String(number)))])
    case .real(let number): .object([JSON.Member("real", try JSON(showing: .real(number)))])
    case .blob(let bytes): .object([JSON.Member("blob", .string(bytes.base64EncodedString()))])
    }
  }

  // MARK: - Reading

  /// - Throws: `JSONError`, `ValueError`; `RowProblem`.
  static func row(_ line: String) throws -> (entry: Entry, seq: Int64?) {
    let line = try JSON(parsing: line, maximumItems: maximumItems)
    guard case .string(let store)? = line["store"], !store.isEmpty,
      case .string(let key)? = line["key"], !key.isEmpty
    else { throw RowProblem("the row has no store, or no key") }
    guard let timestamp = line["stamp"]?.timestamp, let origin = line["origin"]?.replica
    else { throw RowProblem("the row has no stamp, or no origin, of 16 hexadecimal digits") }
    let entry = Entry(
      Address(store: store, key: key), try content(line), timestamp: timestamp, origin: origin)
    switch line["seq"] {
    case nil: return (entry, nil)
    case .integer(let seq)? where exact.contains(seq) && seq > 0: return (entry, seq)
    default: throw RowProblem("\"seq\" is no number from 1 to 2^53")
    }
  }

  private static func content(_ line: JSON) throws -> TaggedCell {
    switch (line["deleted"], line["type"], line["value"]) {
    case (.boolean(true)?, nil, nil): return .tombstone
    case (nil, .integer(let tag)?, let value?) where tag != TaggedCell.tombstone.tag:
      return TaggedCell(tag: tag, cell: try column(value))
    case (nil, .string(let name)?, let value?):
      guard let kind = StoredValue.Kind(rawValue: name), kind != .opaque else {
        throw RowProblem("there is no type \"\(name)\"")
      }
      return try columns(of: kind, value, line["seconds"])
    default: throw RowProblem("the row has neither type and value nor \"deleted\":true")
    }
  }

  private static func columns(
    of kind: StoredValue.Kind, _ value: JSON, _ seconds: JSON?
  ) throws -> TaggedCell {
    if kind == .integer, case .string(let text) = value {
      guard let number = Int64(text), !exact.contains(number) else {
        throw RowProblem("\"value\" is no integer beyond 2^53")
      }
      return try TaggedCell(.integer(number))
    }
    if kind == .date {
      guard let seconds else { throw RowProblem("a date has no \"seconds\"") }
      return TaggedCell(
        tag: Tag.date.rawValue, cell: try TaggedCell(seconds, of: .real, tag: nil).cell)
    }
    return try TaggedCell(value, of: kind, tag: nil)
  }

  private static func column(_ value: JSON) throws -> Cell {
    guard case .object(let members) = value, members.count <= 1 else {
      throw RowProblem("the value of a type that is a number is no object of one member")
    }
    switch (members.first?.name, members.first?.value) {
    case (nil, nil): return .null
    case ("text"?, .string(let text)?): return .text(text)
    case ("integer"?, .string(let text)?):
      if let number = Int64(text) { return .integer(number) }
    case ("real"?, let number?):
      return try TaggedCell(number, of: .real, tag: nil).cell
    case ("blob"?, .string(let text)?):
      if let bytes = Data(base64Encoded: text) { return .blob(bytes) }
    default: break
    }
    throw RowProblem("the value is no text, integer, real or blob of a column")
  }
}

/// What a row lacks.
struct RowProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
