// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDBSQLite
import Synchronization

/// Every statement that any connection of this process begins.
enum Statements {
  private static let counts = Mutex((all: 0, migrations: 0))
  private static let last = Atomic<Int>(.max)

  static var all: Int { counts.withLock { $0.all } }
  /// How many migrations were noted.
  static var migrations: Int { counts.withLock { $0.migrations } }

  /// From now on.
  ///
  /// - Parameter number: at this one the process kills itself.
  static func count(killingAt number: Int = .max) {
    last.store(number, ordering: .relaxed)
    typealias Entry = @convention(c) (OpaquePointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
    let entry: Entry = { database, _, _ in
      sqlite3_trace_v2(
        database, UInt32(SQLITE_TRACE_STMT),
        { _, _, _, text in
          Statements.begins(text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) })
          return 0
        }, nil)
    }
    sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
  }

  private static func begins(_ text: String?) {
    let all = counts.withLock { counts in
      counts.all += 1
      if text?.contains("INTO grdb_migrations") == true { counts.migrations += 1 }
      return counts.all
    }
    if all >= last.load(ordering: .relaxed) { kill(getpid(), SIGKILL) }
  }
}
