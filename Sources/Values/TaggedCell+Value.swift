// SPDX-License-Identifier: Apache-2.0
//
// Converts a value to the two columns `tag` and `value`, and back.
//
// Invariants
// - Decoding never fails: columns that this version cannot read become `.opaque`.
// - Encoding a decoded value gives columns that decode to the same value; if this version wrote
//   them, or cannot read them, the same columns.
// - A value has one encoding, so equal values have equal bytes on every device.

extension TaggedCell {
  /// The columns for `value`; nil is a tombstone.
  ///
  /// - Throws: `ValueError` if arrays and dictionaries nest deeper than `StoredValue.maximumDepth`.
  package init(_ value: StoredValue?) throws(ValueError) {
    guard let value else {
      self = .tombstone
      return
    }
    switch value {
    case .opaque(let opaque): self = opaque.content
    case .array: self.init(tag: .array, cell: .text(try JSON(storing: value).text()))
    case .dictionary: self.init(tag: .dictionary, cell: .text(try JSON(storing: value).text()))
    case .string: self.init(tag: .string, cell: value.scalarCell)
    case .integer: self.init(tag: .integer, cell: value.scalarCell)
    case .real: self.init(tag: .real, cell: value.scalarCell)
    case .boolean: self.init(tag: .boolean, cell: value.scalarCell)
    case .date: self.init(tag: .date, cell: value.scalarCell)
    case .data: self.init(tag: .data, cell: value.scalarCell)
    }
  }

  private init(tag: Tag, cell: Cell) {
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
    case (.array, .text(let text)): container(text, .array)
    case (.dictionary, .text(let text)): container(text, .dictionary)
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

  private func container(_ text: String, _ kind: StoredValue.Kind) -> StoredValue? {
    // A container that another program wrote differently becomes opaque.
    guard case .success(let value) = Result(catching: { try JSON(parsing: text).storedValue() }),
      value.kind == kind
    else { return nil }
    return value
  }
}
