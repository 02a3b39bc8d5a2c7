// SPDX-License-Identifier: Apache-2.0
//
// Values as JSON, in two forms that differ only in dates:
// - stored, for arrays and dictionaries in the file: `{"$date": seconds since 2001}`, exact;
// - shown, for people and other programs: ISO 8601 in UTC with milliseconds; in a container only if
//   that is exact, so that editing a container does not change its other dates.
//
// JSON has no dates, bytes, NaN or infinity, so in a container each becomes a marker, an object
// with one member: `$date`, `$data`, `$real`. A user's dictionary that looks like a marker (one
// member, name starting with `$`) is wrapped in `{"$dictionary": …}`.

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
    case .opaque(let opaque):
      self = try opaque.content.cell.scalar.map(JSON.init(showing:)) ?? .null
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
      guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
      var list: [JSON] = []
      for item in elements { list.append(try element(item, shown: shown, depth: depth + 1)) }
      return .array(list)
    case .dictionary(let members):
      guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
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

  /// Whether readers take this object for a marker.
  package var isMarker: Bool {
    guard case .object(let members) = self else { return false }
    return members.count == 1 && members[0].name.utf8.first == UInt8(ascii: "$")
  }

  private static func shown(_ date: Date) -> JSON {
    let seconds = date.timeIntervalSinceReferenceDate
    return ISO8601.text(secondsSince2001: seconds).map(JSON.string) ?? number(seconds)
  }

  private static func number(_ number: Double) -> JSON {
    if number.isFinite { return .real(number == 0 ? 0 : number) }
    return .string(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
  }

  // MARK: - Reading

  /// The value of this JSON, which is in the stored or the shown form.
  ///
  /// - Parameter depth: the number of arrays and dictionaries around this JSON.
  /// - Throws: `ValueError` for null, which no store can hold, for an unknown `$` marker, and for
  ///   more than `StoredValue.maximumDepth` levels.
  package func storedValue(depth: Int = 0) throws(ValueError) -> StoredValue {
    switch self {
    case .null: throw ValueError(.invalid, "null is not a value; delete the key instead")
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .string(let text): return .string(text)
    case .array(let elements):
      guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
      var values: [StoredValue] = []
      for element in elements { values.append(try element.storedValue(depth: depth + 1)) }
      return .array(values)
    case .object(let members):
      return try isMarker
        ? Self.marked(members[0], depth: depth) : Self.dictionary(members, depth: depth)
    }
  }

  /// The value of this JSON as a given type: of `"value"` with the `"type"` of a line of `import`.
  package func storedValue(of kind: StoredValue.Kind) throws(ValueError) -> StoredValue {
    switch (kind, self) {
    case (.date, _): return .date(try Self.date(self))
    case (.data, _): return .data(try Self.data(self))
    case (.real, _): return .real(try Self.real(self))
    default:
      let value = try storedValue()
      guard value.kind == kind else {
        throw ValueError(
          .typeMismatch, "it is of type \(value.kind.rawValue); correct the type or the value")
      }
      return value
    }
  }

  private static func dictionary(
    _ members: [Member], depth: Int
  ) throws(ValueError) -> StoredValue {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
    var values: [String: StoredValue] = [:]
    for member in members { values[member.name] = try member.value.storedValue(depth: depth + 1) }
    return .dictionary(values)
  }

  private static func marked(_ member: Member, depth: Int) throws(ValueError) -> StoredValue {
    switch (member.name, member.value) {
    case ("$date", let value): return .date(try date(value))
    case ("$data", let value): return .data(try data(value))
    case ("$real", let value): return .real(try real(value))
    case ("$dictionary", .object(let members)): return try dictionary(members, depth: depth)
    default:
      throw ValueError(
        .invalid,
        "a dictionary whose one key starts with $ is a marker; "
          + "use $date, $data, $real or $dictionary")
    }
  }

  private static func date(_ value: JSON) throws(ValueError) -> Date {
    if case .string(let text) = value, let seconds = ISO8601.secondsSince2001(text) {
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
    guard let seconds = number(value) else {
      throw ValueError(.invalid, "not a date; write it as 2026-11-20T10:00:00.000Z")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  private static func data(_ value: JSON) throws(ValueError) -> Data {
    guard case .string(let text) = value, let bytes = Data(base64Text: text) else {
      throw ValueError(.invalid, "not base64 data; encode it as base64")
    }
    return bytes
  }

  private static func real(_ value: JSON) throws(ValueError) -> Double {
    guard let number = number(value) else {
      throw ValueError(.invalid, "not a number; write one, or \"nan\", \"inf\", \"-inf\"")
    }
    return number
  }

  private static func number(_ value: JSON) -> Double? {
    switch value {
    case .real(let number): number
    case .integer(let number): Double(exactly: number)
    case .string("nan"): .nan
    case .string("inf"): .infinity
    case .string("-inf"): -.infinity
    default: nil
    }
  }
}

// MARK: - Opaque values

extension Cell {
  /// The value of the storage class's own type; nil for NULL.
  fileprivate var scalar: StoredValue? {
    switch self {
    case .null: nil
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .string(text)
    case .blob(let bytes): .data(bytes)
    }
  }
}

extension OpaqueValue {
  /// The column, without loss: its storage class becomes the JSON type, with markers for blobs, NaN
  /// and infinity.
  package var json: JSON {
    get throws(ValueError) {
      try content.cell.scalar.map(JSON.init(storing:)) ?? .null
    }
  }

  /// - Throws: `ValueError` for JSON that the property `json` does not return.
  package init(tag: JSON?, json: JSON) throws(ValueError) {
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

extension Data {
  /// Decodes base64, also with spaces, tabs and line breaks, which base64(1) writes.
  ///
  /// - Returns: nil for other text.
  package init?(base64Text text: String) {
    if let data = Data(base64Encoded: text) {
      self = data
    } else {
      self.init(base64Encoded: Data(text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }))
    }
  }
}
