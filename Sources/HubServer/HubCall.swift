// SPDX-License-Identifier: Apache-2.0

/// A statement, which a store prepares once for each connection. SQLite has `?1` in place of `$1`.
package struct HubStatement: Sendable {
  package let name: String
  package let sql: String

  package init(_ name: String, _ sql: String) { (self.name, self.sql) = (name, sql) }
}

/// An argument or a result of a statement. Text is its bytes.
package enum HubCell: Sendable {
  case number(Int64)
  case bytes([UInt8])
  /// Arrays, which only PostgreSQL has.
  case numbers([Int64])
  case blobs([[UInt8]])

  package static func text(_ text: String) -> HubCell { .bytes(Array(text.utf8)) }

  var number: Int64 {
    guard case .number(let number) = self else { return 0 }
    return number
  }

  var bytes: [UInt8] {
    guard case .bytes(let bytes) = self else { return [] }
    return bytes
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A statement with its arguments.
package struct HubCall: Sendable {
  package let statement: HubStatement
  package let cells: [HubCell]

  package init(_ statement: HubStatement, _ cells: [HubCell]) {
    (self.statement, self.cells) = (statement, cells)
  }

  package init(_ statement: HubStatement, _ cells: HubCell...) { self.init(statement, cells) }
}
