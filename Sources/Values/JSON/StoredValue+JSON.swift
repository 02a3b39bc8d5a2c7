// SPDX-License-Identifier: Apache-2.0
//
// Values as JSON, in two forms that differ only in dates:
// - stored, for arrays and dictionaries in the file: `{"$date": seconds since 2001}`, exact;
// - shown, for people and other programs: ISO 8601 in UTC with milliseconds; in a container only
//   where that is exact, so that a container that was read and edited keeps its other dates.
//
// JSON has no date, bytes, NaN or infinity, so in a container they become a marker, an object with
// one member: `$date`, `$data`, `$real`. A user's dictionary that looks like a marker (one member,
// name starting with `$`) is wrapped in `{"$dictionary": …}`.

extension JSON {
  /// The stored form, which is canonical: members are sorted by the bytes of their names.
  ///
  /// - Throws: `ValueError` if the value nests deeper than `StoredValue.maximumDepth`, or holds an
  ///   opaque value.
  package init(storing value: StoredValue) throws(ValueError) {
    self = try Self.element(value, shown: false)
  }

  /// The shown form, which `--json` prints.
  package init(showing value: StoredValue) throws(ValueError) {
    switch value {
    case .date(let date): self = Self.shown(date)
    case .data(let bytes): self = .string(bytes.base64EncodedString())
    case .real(let number): self = Self.number(number)
    case .opaque(let opaque): self = Self.shown(opaque.content.cell)
    default: self = try Self.element(value, shown: true)
    }
  }

  /// The form within a container.
  static func element(
    _ value: StoredValue, shown: Bool, depth: Int = 0
  ) throws(ValueError) -> JSON {
    switch value {
    case .string(let text): return .string(text)
    case .integer(let number): return .integer(number)
    case .boolean(let flag): return .boolean(flag)
    case .real(let number):
      return number.isFinite ? Self.number(number) : .object(["$real": Self.number(number)])
    case .data(let bytes): return .object(["$data": .string(bytes.base64EncodedString())])
    case .date(let date):
      let seconds = date.timeIntervalSinceReferenceDate
      let text = shown ? ISO8601.text(secondsSince2001: seconds) : nil
      let exact = text.flatMap { ISO8601.secondsSince2001($0) == seconds ? $0 : nil }
      return .object(["$date": exact.map(JSON.string) ?? number(seconds)])
    case .array(let elements):
      try check(depth)
      var list: [JSON] = []
      for item in elements { list.append(try element(item, shown: shown, depth: depth + 1)) }
      return .array(list)
    case .dictionary(let members):
      try check(depth)
      var list: [JSON.Member] = []
      for (name, item) in StoredValue.ordered(members) {
        list.append(Member(name.string, try element(item, shown: shown, depth: depth + 1)))
      }
      let object = JSON.object(list)
      return object.isMarker ? .object([Member("$dictionary", object)]) : object
    case .opaque:
      throw ValueError(.invalid, "an unreadable value cannot go into an array or a dictionary")
    }
  }

  private static func check(_ depth: Int) throws(ValueError) {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
  }

  /// Whether this object would be read as a marker.
  package var isMarker: Bool {
    guard case .object(let members) = self else { return false }
    return members.count == 1 && members[0].name.utf8.first == UInt8(ascii: "$")
  }

  private static func shown(_ date: Date) -> JSON {
    let seconds = date.timeIntervalSinceReferenceDate
    return ISO8601.text(secondsSince2001: seconds).map(JSON.string) ?? number(seconds)
  }

  private static func shown(_ cell: Cell) -> JSON {
    switch cell {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): Self.number(number)
    case .text(let text): .string(text)
    case .blob(let bytes): .string(bytes.base64EncodedString())
    }
  }

  private static func number(_ number: Double) -> JSON {
    if number.isFinite { return .real(number == 0 ? 0 : number) }
    return .string(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
  }
}

//
// A lossless JSON form of values that this version cannot read: the column's storage class becomes
// the JSON type, with the markers of `StoredValue+JSON.swift` for blobs, NaN and infinity.

extension OpaqueValue {
  package var tag: Int64 { content.tag }

  /// The column, without loss.
  package var json: JSON {
    get throws(ValueError) {
      switch content.cell {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): try JSON(storing: .real(number))
      case .text(let text): .string(text)
      case .blob(let bytes): try JSON(storing: .data(bytes))
      }
    }
  }

  /// - Throws: `ValueError` for JSON that the property `json` does not return.
  package init(tag: JSON?, _ json: JSON) throws(ValueError) {
    guard case .integer(let tag)? = tag, tag != TaggedCell.tombstone.tag else {
      throw ValueError(.invalid, "\"tag\" is missing; write an integer other than 0")
    }
    let cell: Cell
    if json == .null {
      cell = .null
    } else {
      switch try json.storedValue() {
      case .integer(let number): cell = .integer(number)
      case .real(let number): cell = .real(number)
      case .string(let text): cell = .text(text)
      case .data(let bytes): cell = .blob(bytes)
      default:
        throw ValueError(
          .invalid, "not an SQLite value; use null, a number, a string or {\"$data\":…}")
      }
    }
    self.init(TaggedCell(tag: tag, cell: cell))
  }
}

extension TaggedCell {
  /// The columns for the `"value"` of a line, which must be of type `kind`.
  ///
  /// - Parameter tag: the tag of an opaque value.
  /// - Throws: `ValueError` for another type, or JSON that is not a value of a store.
  package init(_ json: JSON, of kind: StoredValue.Kind, tag: JSON?) throws(ValueError) {
    let value: StoredValue =
      kind == .opaque ? .opaque(try OpaqueValue(tag: tag, json)) : try json.storedValue(of: kind)
    try self.init(value)
  }
}
