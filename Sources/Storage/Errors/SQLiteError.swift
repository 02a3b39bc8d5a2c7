// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// An error of SQLite.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
  /// The extended result code: https://www.sqlite.org/rescode.html
  package let code: Int32
  /// Nil if SQLite says nothing more than the code.
  package let message: String?
  private let sql: String?

  var primaryCode: Int32 { code & 0xFF }

  init(_ code: Int32, _ message: String? = nil, sql: String? = nil) {
    (self.code, self.message, self.sql) = (code, message, sql)
  }

  /// - Parameter handle: the connection that has failed.
  init(_ code: Int32, of handle: OpaquePointer?, sql: String? = nil) {
    self.init(code, handle.map { String(cString: sqlite3_errmsg($0)) }, sql: sql)
  }

  package var description: String {
    let message = message ?? String(cString: sqlite3_errstr(code))
    return "SQLite error \(code): \(message)" + (sql.map { ", in: \($0)" } ?? "")
  }
}
