// SPDX-License-Identifier: Apache-2.0

/// One SQLite value, in its native storage class.
///
/// The order is SQLite's own (https://www.sqlite.org/datatype3.html#comparisons): NULL, then
/// numbers by value, then text by bytes, then blobs by bytes. An integer precedes an equal real.
package enum Cell: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)

  private var storageClass: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }
}

extension Cell: Hashable {
  package static func == (a: Cell, b: Cell) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): ByteText(a) == ByteText(b)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(storageClass)
    switch self {
    case .null: break
    case .integer(let number): hasher.combine(number)
    case .real(let number): hasher.combine(number)
    case .text(let text): hasher.combine(ByteText(text))
    case .blob(let bytes): hasher.combine(bytes)
    }
  }
}

extension Cell: Comparable {
  package static func < (a: Cell, b: Cell) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.real(let a), .real(let b)): a < b
    // The class breaks a tie between equal numbers, as `typeof` does in SQL: the order is total.
    case (.integer(let a), .real(let b)): sign(of: a, minus: b) <= 0
    case (.real(let a), .integer(let b)): sign(of: b, minus: a) > 0
    case (.text(let a), .text(let b)): ByteText(a) < ByteText(b)
    case (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
    default: a.storageClass < b.storageClass
    }
  }

  /// The exact sign of `integer - real`, as in SQLite: without rounding to the other's type.
  private static func sign(of integer: Int64, minus real: Double) -> Int {
    guard real < 0x1p63 else { return -1 }
    guard real >= -0x1p63 else { return 1 }
    let whole = Int64(real.rounded(.towardZero))
    if integer != whole { return integer < whole ? -1 : 1 }
    let fraction = real - real.rounded(.towardZero)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }
}

/// The columns `tag` and `value` of an entry.
package struct TaggedCell: Sendable, Hashable {
  /// The raw value of a `Tag`, or the type number of a newer version.
  package var tag: Int64
  package var cell: Cell

  package init(tag: Int64, cell: Cell) {
    self.tag = tag
    self.cell = cell
  }

  package static let tombstone = TaggedCell(tag: 0, cell: .null)

  package var isTombstone: Bool { tag == Tag.tombstone.rawValue }

  /// Nil for a tombstone.
  package var ifValue: TaggedCell? { isTombstone ? nil : self }
}

extension TaggedCell: Comparable {
  /// By the tag, then by the cell: the order of the merge rule.
  package static func < (a: TaggedCell, b: TaggedCell) -> Bool {
    a.tag != b.tag ? a.tag < b.tag : a.cell < b.cell
  }
}

/// The types that this version knows. Files contain the raw values, so these are never reused.
package enum Tag: Int64, Sendable, CaseIterable {
  case tombstone = 0
  case string, integer, real, boolean, date, data, array, dictionary
}
