// SPDX-License-Identifier: Apache-2.0

extension JSON {
  /// The value of this JSON in its stored or shown form (see `StoredValue+JSON.swift`).
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
      return isMarker ? try Self.marked(members[0], depth) : try Self.dictionary(members, depth)
    }
  }

  /// The value of this JSON read as a given type: `"value"` with the `"type"` of a line of
  /// `import`.
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
    _ members: [Member], _ depth: Int
  ) throws(ValueError) -> StoredValue {
    guard depth < StoredValue.maximumDepth else { throw ValueError.nestsTooDeep }
    var values: [String: StoredValue] = [:]
    for member in members { values[member.name] = try member.value.storedValue(depth: depth + 1) }
    return .dictionary(values)
  }

  private static func marked(_ member: Member, _ depth: Int) throws(ValueError) -> StoredValue {
    switch (member.name, member.value) {
    case ("$date", let value): return .date(try date(value))
    case ("$data", let value): return .data(try data(value))
    case ("$real", let value): return .real(try real(value))
    case ("$dictionary", .object(let members)): return try dictionary(members, depth)
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
