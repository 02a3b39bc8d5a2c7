// SPDX-License-Identifier: Apache-2.0
//
// Values that this version cannot read, in a form that loses nothing: the column's class is the
// JSON's type, with the markers of `StoredValue+JSON.swift` for bytes and for what is no number.

extension OpaqueValue {
  package var tag: Int64 { content.tag }

  /// The column, exactly.
  package var json: JSON {
    get throws(ValueError) {
      switch content.cell {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): try JSON(storing: .array([.real(number)])).onlyElement
      case .text(let text): .string(text)
      case .blob(let bytes): .object(["$data": .string(bytes.base64EncodedString())])
      }
    }
  }

  /// - Throws: `ValueError` when this is not what `json` makes.
  package init(tag: JSON?, _ json: JSON) throws(ValueError) {
    guard case .integer(let tag)? = tag, tag != TaggedCell.tombstone.tag else {
      throw ValueError(.invalid, "there is no \"tag\"; it is a number other than 0")
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
          .invalid, "no cell of SQLite's; use null, a number, a text or {\"$data\":…}")
      }
    }
    self.init(TaggedCell(tag: tag, cell: cell))
  }
}

extension JSON {
  fileprivate var onlyElement: JSON {
    guard case .array(let elements) = self, elements.count == 1 else { return self }
    return elements[0]
  }
}
