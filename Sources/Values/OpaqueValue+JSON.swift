// SPDX-License-Identifier: Apache-2.0
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
