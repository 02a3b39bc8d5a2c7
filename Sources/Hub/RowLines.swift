// SPDX-License-Identifier: Apache-2.0
//
// Rows as JSON lines: a head, then a line for each row. Text without a line break at its end is
// truncated.

import KeepsakeDevice
package import KeepsakeSync
package import KeepsakeValues

extension HubPageRequest {
  /// The parameters of a request.
  var query: String {
    var query = "rows=\(rows)"
    if let replica { query += "&replica=\(replica)" }
    if cursor != HubCursor.beginning { query += "&cursor=\(cursor)" }
    if let after { query += "&after=\(after)" }
    if let newest { query += "&newest=\(newest)" }
    if allVectors { query += "&vectors=all" }
    return query
  }
}

extension HubUpload {
  /// The body of a push.
  func text() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rows.reduce(1_024) { $0 + $1.body.count + 128 })
    var head = [JSON.Member("rows", .integer(Int64(rows.count)))]
    if let last {
      head.append(JSON.Member("mark", .string(last.mark.text)))
      head.append(JSON.Member("vectors", last.vectors.json))
    }
    JSON.object(head).write(to: &bytes)
    for row in rows {
      bytes += "\n{\"key\":".utf8
      JSON.string(row.entry.address.hubKey).write(to: &bytes)
      if row.entry.content.isTombstone { bytes += ",\"deleted\":true".utf8 }
      bytes += ",\"row\":".utf8
      bytes += row.body
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }
}

extension HubPageAnswer {
  /// The maximum number of values and names in a line: more than a value of 1 MiB can have.
  private static let maximumItems = 600_000
  /// The maximum number of lines: more than a hub sends.
  private static let maximumLines = 100_000

  init(_ response: HubResponse, _ url: HubURL) throws(KeepsakeError) {
    guard let clock = response.clock else { throw HubFailure.malformed(url, "has no time") }
    if response.status == 304 {
      guard let mark = response.headers["etag"].map(Self.mark), Mark(text: mark) != nil else {
        throw HubFailure.malformed(url, "has no mark")
      }
      self.init(newest: mark, clock: clock)
      let limit = response.headers["hub-row-bytes"].flatMap { Int($0) } ?? 0
      if limit > 0 { rowLimit = limit }
      return
    }
    do throws(ValueError) {
      try self.init(lines: response.body, clock: clock)
    } catch {
      throw HubFailure.malformed(url, "cannot be read: \(error)")
    }
  }

  /// The mark of an entity tag, which a proxy may have made weak.
  private static func mark(_ tag: String) -> String {
    let quoted = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    return String(quoted.drop { $0 == "\"" }.prefix { $0 != "\"" })
  }

  package init(lines bytes: [UInt8], clock: Int64) throws(ValueError) {
    guard bytes.last == UInt8(ascii: "\n") else { throw ValueError(.invalid, "it was cut off") }
    let lines = bytes.dropLast().split(
      separator: UInt8(ascii: "\n"), maxSplits: Self.maximumLines, omittingEmptySubsequences: false)
    let head = try Self.json(lines[0], 1)
    guard case .string(let newest)? = head["newest"], Mark(text: newest) != nil else {
      throw Self.error(1, "there is no mark")
    }
    self.init(newest: newest, clock: clock)
    var count: Int64 = 0
    if case .integer(let vectors)? = head["vectors"] { count = vectors }
    guard case .string(let state)? = head["cursor"], case .boolean(let isLast)? = head["isLast"],
      (0..<Int64(lines.count)).contains(count),
      head["rows"] == .integer(Int64(lines.count - 1) - count)
    else { throw Self.error(1, "\"cursor\", \"isLast\", \"vectors\" or \"rows\" is wrong") }
    (knowsCursor, self.isLast) = (state == "known", isLast)
    if case .integer(let limit)? = head["rowBytes"], limit > 0 { rowLimit = Int(limit) }
    // The mark may be of another version, and unreadable here.
    if case .string(let text)? = head["mark"] { deviceMark = Mark(text: text) }
    let firstRow = Int(count) + 1
    for line in lines[1..<firstRow] {
      if case .success(let read) = Result(catching: { try VersionVectors(Self.json(line, 2)) }) {
        vectors.unite(read)
      }
    }
    for (place, line) in lines.enumerated().dropFirst(firstRow) {
      let json = Result { () throws(ValueError) in try Self.json(line, place + 1) }
      if case .success(let json) = json, case .integer(let number)? = json["seq"] {
        guard number > lastNumber ?? 0 else {
          throw Self.error(place + 1, "the numbers do not ascend")
        }
        lastNumber = number
      }
      if case .success(let row) = Result(catching: { try Self.row(json.get(), place + 1) }) {
        rows.append(row)
      } else {
        unreadable += 1
        if case .success(let json) = json, case .string(let key)? = json["key"],
          // No device has a longer key.
          key.utf8.count <= 8_192
        {
          unreadableKeys.insert(ByteText(key))
        }
      }
    }
  }

  private static func row(_ json: JSON, _ number: Int) throws(ValueError) -> Entry {
    guard case .integer(1...)? = json["seq"], let body = json["row"] else {
      throw error(number, "there is no \"seq\" or no \"row\"")
    }
    do throws(ValueError) {
      let entry = try Entry(row: body)
      if !entry.content.isTombstone, let problem = EntrySize.problem(entry) {
        throw ValueError(.invalid, problem)
      }
      return entry
    } catch {
      throw Self.error(number, "\(error)")
    }
  }

  private static func json(_ line: ArraySlice<UInt8>, _ number: Int) throws(ValueError) -> JSON {
    guard let text = String(validating: line, as: UTF8.self) else {
      throw error(number, "it is no UTF-8")
    }
    do throws(JSONError) {
      return try JSON(parsing: text, maximumItems: maximumItems)
    } catch {
      // A hub accepts JSON that this parser refuses: half of a surrogate pair, or a number too
      // large.
      guard let part = readablePart(of: line) else { throw Self.error(number, "\(error)") }
      return part
    }
  }

  /// An object with the members that can be read.
  private static func readablePart(of line: ArraySlice<UInt8>) -> JSON? {
    var (slices, members) = (JSONSlices(Array(line), 0..<line.count), [JSON.Member]())
    let result = Result {
      try slices.members { name, value in
        let bytes = line.dropFirst(value.lowerBound).prefix(value.count)
        guard let json = JSON.read(bytes) else { return }
        members.append(JSON.Member(String(decoding: name, as: UTF8.self), json))
      }
    }
    guard case .success = result else { return nil }
    return .object(members)
  }

  private static func error(_ line: Int, _ problem: String) -> ValueError {
    ValueError(.invalid, "line \(line): \(problem)")
  }
}
