// SPDX-License-Identifier: Apache-2.0

/// A value as a store keeps it: one of the property-list types, without conversion between them.
///
/// Two values are equal if a file stores the same for both: strings compare by UTF-8 bytes, so "é"
/// and "e" + U+0301 differ, unlike in `String`; NaN equals NaN, and -0.0 equals 0.0.
public enum StoredValue: Sendable {
  case string(String)
  case integer(Int64)
  case real(Double)
  case boolean(Bool)
  case date(Date)
  case data(Data)
  case array([StoredValue])
  case dictionary([String: StoredValue])
  /// A value that this version cannot read, from a newer version or another program. It is stored,
  /// synced and exported unchanged.
  case opaque(OpaqueValue)
}

/// A value that this version cannot read.
public struct OpaqueValue: Sendable, Hashable {
  package let content: TaggedCell

  package init(_ content: TaggedCell) {
    self.content = content
  }
}

extension StoredValue {
  /// The nesting depth of arrays and dictionaries that a store accepts.
  public static let maximumDepth = 64

  /// The kinds of values; commands and messages use the raw value.
  public enum Kind: String, Sendable, CaseIterable {
    case string, integer, real, boolean, date, data, array, dictionary, opaque
  }

  /// Its type.
  public var kind: Kind {
    switch self {
    case .string: .string
    case .integer: .integer
    case .real: .real
    case .boolean: .boolean
    case .date: .date
    case .data: .data
    case .array: .array
    case .dictionary: .dictionary
    case .opaque: .opaque
    }
  }
}

extension StoredValue: Hashable {
  public static func == (a: StoredValue, b: StoredValue) -> Bool {
    switch (a, b) {
    case (.array(let a), .array(let b)):
      a == b
    case (.dictionary(let a), .dictionary(let b)):
      a.count == b.count
        && ordered(a).elementsEqual(ordered(b)) { $0.key == $1.key && $0.value == $1.value }
    default:
      a.kind == b.kind && a.scalarContent == b.scalarContent
    }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    switch self {
    case .array(let elements): hasher.combine(elements)
    case .dictionary(let members): hasher.combine(members.count)
    default: hasher.combine(scalarContent)
    }
  }

  /// The members sorted by the bytes of their keys, the order of every encoding.
  static func ordered(
    _ members: [String: StoredValue]
  ) -> [(key: ByteText, value: StoredValue)] {
    members.map { (ByteText($0.key), $0.value) }.sorted { $0.key < $1.key }
  }
}

extension StoredValue {
  /// The columns of a scalar. The cell of a container is JSON text, which this leaves out.
  var scalarContent: TaggedCell {
    switch self {
    case .string(let text): TaggedCell(tag: .string, cell: .text(text))
    case .integer(let number): TaggedCell(tag: .integer, cell: .integer(number))
    case .real(let number): TaggedCell(tag: .real, cell: Self.cell(number))
    case .boolean(let flag): TaggedCell(tag: .boolean, cell: .integer(flag ? 1 : 0))
    case .date(let date):
      TaggedCell(tag: .date, cell: Self.cell(date.timeIntervalSinceReferenceDate))
    case .data(let bytes): TaggedCell(tag: .data, cell: .blob(bytes))
    case .opaque(let opaque): opaque.content
    case .array: TaggedCell(tag: .array, cell: .null)
    case .dictionary: TaggedCell(tag: .dictionary, cell: .null)
    }
  }

  /// NaN is text, because SQLite would store NULL; -0.0 becomes 0.0, so that equal numbers have
  /// equal bytes.
  private static func cell(_ number: Double) -> Cell {
    number.isNaN ? .text("nan") : .real(number == 0 ? 0 : number)
  }
}

extension StoredValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(arrayLiteral elements: StoredValue...) { self = .array(elements) }

  /// The last of several equal keys wins.
  public init(dictionaryLiteral elements: (String, StoredValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

extension StoredValue: CustomStringConvertible {
  /// The JSON that `kvsync get --json` prints: `"guest"`, `5`, `[1,true]`; dates and data as text.
  public var description: String {
    switch Result(catching: { try JSON(showing: self).text() }) {
    case .success(let text): text
    case .failure(let error): "a value that cannot be shown: \(error)"
    }
  }
}
