// SPDX-License-Identifier: Apache-2.0
//
// JSON lines: a head, then one line for each row. Text without a line break at its end is
// truncated.

import KeepsakeValues

/// The parsed lines of a request.
package struct HubLines: Sendable {
  package var rows: [HubRow] = []
  package var mark: [UInt8]?
  /// The vectors as JSON.
  package var vectors: [UInt8]?

  /// Reads the lines of a push.
  package init(push bytes: [UInt8], _ limits: HubLimits) throws {
    try self.init(bytes, limits, hasRows: true)
    guard (mark == nil) == (vectors == nil) else {
      throw HubRefusal.malformed("\"mark\" and \"vectors\" belong together")
    }
    guard !rows.isEmpty || mark != nil else {
      throw HubRefusal.malformed("a push has neither a row nor a mark")
    }
  }

  /// Reads the lines of a request to forget rows, which have only keys.
  package init(keys bytes: [UInt8], _ limits: HubLimits) throws {
    try self.init(bytes, limits, hasRows: false)
  }

  private init(_ bytes: [UInt8], _ limits: HubLimits, hasRows: Bool) throws {
    guard bytes.last == 0x0A else {
      throw HubRefusal.malformed("the body does not end with a line break")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw HubRefusal.malformed("the body is not UTF-8")
    }
    var (start, line, count) = (0, 0, 0)
    var keys: Set<[UInt8]> = []
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
      line += 1
      if line == 1 {
        count = try head(bytes, start..<end, limits)
      } else {
        guard rows.count < limits.pageRows else {
          throw HubRefusal.tooLarge(limit: "pageRows", limits.pageRows)
        }
        let row = try Self.row(bytes, start..<end, line, limits, hasRow: hasRows)
        guard keys.insert(row.key).inserted else {
          throw HubRefusal.malformed("line \(line) has a key of another line")
        }
        rows.append(row)
      }
      start = end + 1
    }
    guard rows.count == count else {
      throw HubRefusal.malformed("the head announces \(count) rows, and \(rows.count) follow")
    }
  }

  /// - Returns: the number of rows that the head announces.
  private mutating func head(
    _ bytes: [UInt8], _ range: Range<Int>, _ limits: HubLimits
  ) throws -> Int {
    var count: Int?
    try Self.members(bytes, range, 1) { name, value in
      switch name {
      case "rows": count = Int(String(decoding: bytes[value], as: UTF8.self))
      case "mark": mark = try Self.text(bytes, value, "mark", 1)
      case "vectors": vectors = Array(bytes[value])
      default: break
      }
    }
    guard let count, count >= 0 else {
      throw HubRefusal.malformed("line 1 has no number of \"rows\"")
    }
    if mark?.count ?? 0 > limits.markBytes {
      throw HubRefusal.tooLarge(limit: "markBytes", limits.markBytes)
    }
    if vectors?.count ?? 0 > limits.vectorBytes {
      throw HubRefusal.tooLarge(limit: "vectorBytes", limits.vectorBytes)
    }
    return count
  }

  private static func row(
    _ bytes: [UInt8], _ range: Range<Int>, _ line: Int, _ limits: HubLimits, hasRow: Bool
  ) throws -> HubRow {
    var (key, body, isDeleted) = ([UInt8]?.none, Range<Int>?.none, false)
    try members(bytes, range, line) { name, value in
      switch name {
      case "key": key = try text(bytes, value, "key", line)
      case "row": body = value
      case "deleted":
        isDeleted = bytes[value].elementsEqual("true".utf8)
        guard isDeleted || bytes[value].elementsEqual("false".utf8) else {
          throw HubRefusal.malformed("line \(line): \"deleted\" is not true or false")
        }
      default: break
      }
    }
    guard let key, !key.isEmpty else {
      throw HubRefusal.malformed("line \(line) has no \"key\", or an empty one")
    }
    guard let body = body ?? (hasRow ? nil : 0..<0) else {
      throw HubRefusal.malformed("line \(line) has no \"row\"")
    }
    guard key.count <= limits.keyBytes else {
      throw HubRefusal.tooLarge(limit: "keyBytes", limits.keyBytes, line: line)
    }
    guard body.count <= limits.rowBytes else {
      throw HubRefusal.tooLarge(limit: "rowBytes", limits.rowBytes, line: line)
    }
    return HubRow(key: key, body: hasRow ? Array(bytes[body]) : [], isDeleted: isDeleted)
  }

  private static func members(
    _ bytes: [UInt8], _ range: Range<Int>, _ line: Int,
    _ body: (_ name: String, Range<Int>) throws -> Void
  ) throws {
    var slices = JSONSlices(bytes, range)
    do {
      try slices.members { try body(String(decoding: $0, as: UTF8.self), $1) }
    } catch is JSONSlices.Malformed {
      let column = slices.index - range.lowerBound + 1
      throw HubRefusal.malformed("line \(line) is no JSON object, at byte \(column)")
    }
  }

  private static func text(
    _ bytes: [UInt8], _ range: Range<Int>, _ name: String, _ line: Int
  ) throws -> [UInt8] {
    let inner = bytes[range].dropFirst().dropLast()
    if bytes[range.lowerBound] == UInt8(ascii: "\"") {
      if !inner.contains(UInt8(ascii: "\\")) { return Array(inner) }
      do {
        if case .string(let text) = try JSON(parsing: String(decoding: bytes[range], as: UTF8.self))
        {
          return Array(text.utf8)
        }
      } catch {
        // The text has half of a surrogate pair.
      }
    }
    throw HubRefusal.malformed("line \(line): \"\(name)\" is no text")
  }
}
