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

  private var handle: OpaquePointer?
  private var steps: Int64 = 0
  /// Statements that run within each other.
  private var depth = 0

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

  /// Before a statement runs; one within another counts as a part of that.
  func begin() {
    if depth == 0 { steps = 0 }
    depth += 1
  }

  func end() { depth -= 1 }

  private var isExceeded: Bool {
    steps += Int64(Self.interval)
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
