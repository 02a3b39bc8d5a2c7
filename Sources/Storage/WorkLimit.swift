// SPDX-License-Identifier: Apache-2.0
//
// How long one statement may work. Pages of a file that was made for it can refer to each other so
// that reading a few kibibytes takes longer than a lifetime. Every statement of ours takes time
// that follows the bytes it reads; one that takes far more is ended (SQLITE_INTERRUPT).
// https://www.sqlite.org/c3ref/progress_handler.html

import CSQLite
import Foundation

/// Counts the steps of a connection's statements.
// Sendable: only used by the thread that runs a statement of the connection.
final class WorkLimit: @unchecked Sendable {
  /// Steps of SQLite's virtual machine between two calls.
  private static let interval: Int32 = 100_000
  /// Steps that any statement may take, and so many more for each byte that it can read: a row of
  /// 50 bytes takes about 500 in the costliest.
  private static let (base, stepsPerByte): (Int64, Int64) = (5_000_000, 200)

  /// A statement that runs: which of its runs this is, and how many steps it has taken.
  ///
  /// SQLite counts the steps of a statement when it returns a row or ends. One that sorts, counts
  /// or writes works long before that, so the calls are counted in which its count stands still.
  private struct Run {
    let number: Int32
    let start: Int32
    private var count: Int32
    private var calls: Int64 = 0

    init(_ number: Int32, _ count: Int32) {
      (self.number, start, self.count) = (number, count, count)
    }

    mutating func note(_ count: Int32) {
      calls = count == self.count ? calls + 1 : 0
      self.count = count
    }

    var steps: Int64 { Int64(count &- start) + calls * Int64(WorkLimit.interval) }
  }
  private var runs: [OpaquePointer: Run] = [:]
  private var handle: OpaquePointer?

  /// - Parameter handle: must be closed before this object goes.
  func watch(_ handle: OpaquePointer?) {
    sqlite3_progress_handler(
      handle, Self.interval,
      { context in
        guard let context else { return 0 }
        let limit = Unmanaged<WorkLimit>.fromOpaque(context).takeUnretainedValue()
        return limit.isExceeded ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    self.handle = handle
  }

  private var isExceeded: Bool {
    var present: [OpaquePointer: Run] = [:]
    var steps: Int64 = 0
    var statement = sqlite3_next_stmt(handle, nil)
    while let running = statement {
      statement = sqlite3_next_stmt(handle, running)
      guard sqlite3_stmt_busy(running) != 0 else { continue }
      let number = sqlite3_stmt_status(running, SQLITE_STMTSTATUS_RUN, 0)
      let count = sqlite3_stmt_status(running, SQLITE_STMTSTATUS_VM_STEP, 0)
      var run = runs[running].flatMap { $0.number == number ? $0 : nil } ?? Run(number, count)
      run.note(count)
      present[running] = run
      steps = max(steps, run.steps)
    }
    runs = present
    return steps > Self.base && steps > Self.base + Self.stepsPerByte * readableBytes
  }

  /// Bytes of the files, of their logs and of what is not in a file yet; all there are in memory.
  private var readableBytes: Int64 {
    var bytes: Int64 = 0
    for database in ["main", "sender"] {
      guard let name = sqlite3_db_filename(handle, database) else { continue }
      let path = String(cString: name)
      for suffix in ["", "-wal"] {
        var status = stat()
        if stat(path + suffix, &status) == 0 { bytes += Int64(status.st_size) }
      }
    }
    var (cache, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &cache, &highest, 0)
    return bytes + Int64(cache)
  }
}
