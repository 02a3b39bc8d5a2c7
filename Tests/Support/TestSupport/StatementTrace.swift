// SPDX-License-Identifier: Apache-2.0

import CSQLite
package import KeepsakeDevice
import KeepsakeValues

/// What SQLite does for a device while `body` runs: its statements, and how many pages they looked
/// at, in the cache or not.
package final class StatementTrace {
  package private(set) var statements: Set<String> = []
  package private(set) var pages = 0
  package private(set) var pagesOf: [String: Int] = [:]

  package static func of(_ devices: [Device], _ body: () throws -> Void) throws -> StatementTrace {
    let trace = StatementTrace()
    for device in devices { try device.tables.access { trace.start(on: $0) } }
    defer {
      for device in devices {
        let result = Result {
          try device.tables.access {
            _ = sqlite3_trace_v2($0.handle, 0, nil, nil)
          }
        }
        withExtendedLifetime(result) {}
      }
    }
    try body()
    return trace
  }

  /// The same of a connection that is at hand.
  package static func of(
    _ connection: Connection, _ body: () throws -> Void
  ) rethrows -> StatementTrace {
    let trace = StatementTrace()
    trace.start(on: connection)
    defer { _ = sqlite3_trace_v2(connection.handle, 0, nil, nil) }
    try body()
    return trace
  }

  private func start(on connection: Connection) {
    _ = Self.takePages(connection.handle)
    sqlite3_trace_v2(
      connection.handle, UInt32(SQLITE_TRACE_PROFILE),
      { _, context, statement, _ in
        guard let context, let statement = statement.map(OpaquePointer.init) else { return 0 }
        let trace = Unmanaged<StatementTrace>.fromOpaque(context).takeUnretainedValue()
        let sql = sqlite3_sql(statement).map { String(cString: $0) } ?? ""
        trace.statements.insert(sql)
        let pages = StatementTrace.takePages(sqlite3_db_handle(statement))
        trace.pages += pages
        trace.pagesOf[sql, default: 0] += pages
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Counted since the last call, over all files attached now.
  private static func takePages(_ connection: OpaquePointer?) -> Int {
    [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, counter in
      var (current, high): (Int32, Int32) = (0, 0)
      sqlite3_db_status(connection, counter, &current, &high, 1)
      return sum + Int(current)
    }
  }
}
