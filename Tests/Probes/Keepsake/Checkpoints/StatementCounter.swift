// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation
import Synchronization

/// Counts the statements that the connections of this process begin.
enum StatementCounter {
  private static let counts = Mutex((all: 0, migrations: 0))
  private static let last = Atomic<Int>(.max)

  static var all: Int { counts.withLock { $0.all } }
  /// How many migrations were recorded as applied.
  static var migrations: Int { counts.withLock { $0.migrations } }

  /// Counts from now on.
  ///
  /// - Parameter number: the statement at which the process kills itself.
  static func count(killingAt number: Int = .max) {
    last.store(number, ordering: .relaxed)
    typealias Entry = @convention(c) (OpaquePointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
    let entry: Entry = { database, _, _ in
      sqlite3_trace_v2(
        database, UInt32(SQLITE_TRACE_STMT),
        { _, _, _, text in
          let sql = text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
          StatementCounter.begins(sql)
          return 0
        }, nil)
    }
    sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
  }

  private static func begins(_ text: String?) {
    let all = counts.withLock { counts in
      counts.all += 1
      if text?.contains("INTO migration") == true { counts.migrations += 1 }
      return counts.all
    }
    if all >= last.load(ordering: .relaxed) { kill(getpid(), SIGKILL) }
  }
}
