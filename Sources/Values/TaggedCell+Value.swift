// SPDX-License-Identifier: Apache-2.0
//
// Converts a value to the two columns `tag` and `value`, and back.
//
// Invariants
// - Decoding never fails: columns that this version cannot read become `.opaque`.
// - Encoding a decoded value returns columns that decode to the same value; the same columns, if
//   this version wrote them or cannot read them.
// - A value has one encoding, so equal values have equal bytes on every device.

extension TaggedCell {
  /// The columns for `value`; nil is a tombstone.
  ///
  /// - Throws: `ValueError` if arrays and dictionaries nest deeper than `StoredValue.maximumDepth`.
  package init(_ value: StoredValue?) throws(ValueError) {
    self = value?.scalarContent ?? .tombstone
    if let value, value.kind == .array || value.kind == .dictionary {
      cell = .text(try JSON(storing: value).text())
    }
  }

  init(tag: Tag, cell: Cell) {
    self.init(tag: tag.rawValue, cell: cell)
  }

  /// The value, or nil for a tombstone.
  package var value: StoredValue? {
    guard !isTombstone else { return nil }
    return readable ?? .opaque(OpaqueValue(self))
  }

  private var readable: StoredValue? {
    switch (Tag(rawValue: tag), cell) {
    case (.string, .text(let text)): .string(text)
    case (.integer, .integer(let number)): .integer(number)
    case (.boolean, .integer(let number)) where number == 0 || number == 1: .boolean(number == 1)
    case (.real, _): real.map(StoredValue.real)
    case (.date, _): real.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case (.data, .blob(let bytes)): .data(bytes)
    case (.array, .text(let text)): container(text, of: .array)
    case (.dictionary, .text(let text)): container(text, of: .dictionary)
    default: nil
    }
  }

  private var real: Double? {
    switch cell {
    case .real(let number): number
    case .text("nan"): .nan
    default: nil
    }
  }

  private func container(_ text: String, of kind: StoredValue.Kind) -> StoredValue? {
    // A container that another program wrote differently becomes opaque.
    guard case .success(let value) = Result(catching: { try JSON(parsing: text).storedValue() }),
      value.kind == kind
    else { return nil }
    return value
  }
}
