// SPDX-License-Identifier: Apache-2.0
//
// Statements with exact values: also text with a NUL in it comes back whole.
//
// Threading: a `Connection` is valid only inside the closure that received it.

import CSQLite
import Foundation
package import KeepsakeValues

/// The database inside one access.
package struct Connection {
  let database: Database
  /// The file's path, for messages.
  package let path: String

  /// SQLite's own, for what has no statement; valid within the access.
  package let handle: OpaquePointer?

  init(database: Database, path: String) {
    (self.database, self.path) = (database, path)
    handle = database.handle
  }

  /// Runs one statement to its end.
  ///
  /// - Parameters:
  ///   - sql: one statement; it is prepared once per connection.
  ///   - arguments: bound in order from `?1`.
  ///   - row: called for each row until it returns false; must not run the same statement again.
  package func run(
    _ sql: String, _ arguments: [Cell] = [], row: (Row) throws -> Bool = { _ in true }
  ) throws {
    try run(
      try database.statement(sql),
      { bindings in
        for (index, cell) in arguments.enumerated() {
          try bindings.bind(cell, at: Int32(index + 1))
        }
      }, row)
  }

  /// Runs a frequent statement, without an array of arguments.
  ///
  /// - Parameter bind: binds its arguments.
  package func run(
    _ statement: FrequentStatement, bind: (Bindings) throws -> Void = { _ in },
    row: (Row) throws -> Bool = { _ in true }
  ) throws {
    try run(try prepared(statement), bind, row)
  }

  /// Prepares it, if it is not: what follows then fails for other reasons alone.
  func prepared(_ statement: FrequentStatement) throws -> OpaquePointer {
    try database.statement(statement)
  }

  private func run(
    _ statement: OpaquePointer, _ bind: (Bindings) throws -> Void, _ row: (Row) throws -> Bool
  ) throws {
    database.limit.begin()
    defer {
      database.limit.end()
      // Their codes would only repeat what `sqlite3_step` reported.
      sqlite3_reset(statement)
      if sqlite3_bind_parameter_count(statement) > 0 { sqlite3_clear_bindings(statement) }
    }
    try bind(Bindings(statement: statement, connection: self))
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        guard try row(Row(statement: statement)) else { return }
      case SQLITE_DONE: return
      case let code: try check(code, statement)
      }
    }
  }

  /// Runs statements without results or arguments, each once; they are not kept.
  package func execute(_ statements: String) throws {
    database.limit.begin()
    defer { database.limit.end() }
    try check(sqlite3_exec(handle, statements, nil, nil, nil), statements)
  }

  /// What `read` makes of each row.
  package func all<Value>(
    _ sql: String, _ arguments: [Cell] = [], _ read: (Row) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try run(sql, arguments) {
      values.append(try read($0))
      return true
    }
    return values
  }

  /// What `read` makes of the first row; nil when there is none.
  package func first<Value>(
    _ sql: String, _ arguments: [Cell] = [], _ read: (Row) throws -> Value
  ) throws -> Value? {
    var value: Value?
    try run(sql, arguments) {
      value = try read($0)
      return false
    }
    return value
  }

  /// Whether the file has a write-ahead log.
  var isLogged: Bool {
    get throws { try first("PRAGMA journal_mode") { $0.text(0) } == "wal" }
  }

  package func hasTable(_ name: String) throws -> Bool {
    try first("SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(name)]) { _ in true } ?? false
  }

  /// How many rows the last INSERT, UPDATE or DELETE touched.
  package var changes: Int { Int(sqlite3_changes(handle)) }

  fileprivate func check(_ code: Int32, _ statement: OpaquePointer) throws {
    guard code != SQLITE_OK else { return }
    try check(code, sqlite3_sql(statement).map { String(cString: $0) } ?? "")
  }

  private func check(_ code: Int32, _ sql: String) throws {
    guard code != SQLITE_OK else { return }
    throw SQLiteError(code, of: handle, sql: sql)
  }
}

/// Tells SQLite to copy what it is given (SQLITE_TRANSIENT, a macro that Swift cannot import).
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The arguments of a statement that is about to run. They count from 1.
package struct Bindings {
  fileprivate let statement: OpaquePointer
  fileprivate let connection: Connection

  package func bind(_ cell: borrowing Cell, at index: Int32) throws {
    switch cell {
    case .null: try check(sqlite3_bind_null(statement, index))
    case .integer(let number): try bind(number, at: index)
    case .real(let number): try check(sqlite3_bind_double(statement, index, number))
    case .text(let text): try bind(text, at: index)
    case .blob(let bytes): try bind(bytes, at: index)
    }
  }

  package func bind(_ number: Int64, at index: Int32) throws {
    try check(sqlite3_bind_int64(statement, index, number))
  }

  /// Binds a blob.
  package func bind(_ bytes: some Collection<UInt8> & ContiguousBytes, at index: Int32) throws {
    guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(statement, index, 0)) }
    try check(
      bytes.withUnsafeBytes {
        sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), copied)
      })
  }

  package func bind(_ text: String, at index: Int32) throws {
    let code = text.utf8.withContiguousStorageIfAvailable { bindText($0, at: index) }
    if let code { return try check(code) }
    // Text that is Foundation's.
    var text = text
    try check(text.withUTF8 { bindText($0, at: index) })
  }

  private func bindText(_ text: UnsafeBufferPointer<UInt8>, at index: Int32) -> Int32 {
    text.withMemoryRebound(to: CChar.self) {
      // Without an address, which an empty buffer may lack, SQLite would bind NULL.
      guard let start = $0.baseAddress, !$0.isEmpty else {
        return sqlite3_bind_text(statement, index, "", 0, copied)
      }
      return sqlite3_bind_text64(
        statement, index, start, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
    }
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { try connection.check(code, statement) }
  }
}

/// One row of a result. Columns count from 0.
package struct Row {
  let statement: OpaquePointer

  /// How many columns it has.
  package var columns: Int32 { sqlite3_column_count(statement) }

  package func cell(_ column: Int32) -> Cell {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  /// The integer in a column; 0 for NULL.
  package func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement, column)
  }

  /// The size of text or of a blob, in its file; of a number what it takes at most.
  package func byteCount(_ column: Int32) -> Int {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_TEXT, SQLITE_BLOB: Int(sqlite3_column_bytes(statement, column))
    case SQLITE_NULL: 0
    default: 8
    }
  }

  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Whether a column is no text, or text in UTF-8: `text` and `cell` repair any other.
  package func isUTF8(_ column: Int32) -> Bool {
    guard sqlite3_column_type(statement, column) == SQLITE_TEXT,
      let start = sqlite3_column_text(statement, column)
    else { return true }
    let count = Int(sqlite3_column_bytes(statement, column))
    let bytes = UnsafeBufferPointer(start: start, count: count)
    return bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
  }

  /// The bytes of a blob.
  package func array(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(statement, column) else { return [] }
    return [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }

  /// The bytes of a blob, or of text as they are, which may be no UTF-8.
  package func bytes(_ column: Int32) -> Data {
    guard let start = sqlite3_column_blob(statement, column) else { return Data() }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(statement, column)))
  }
}
