// SPDX-License-Identifier: Apache-2.0

import FileSystemShim
import GRDBSQLite
import KeepsakeDevice

/// A way in which one call of SQLite to its file system fails.
struct Fault: CustomStringConvertible {
  /// What the call returns.
  let code: Int32
  /// Whether half of a read or write is done nevertheless.
  var isPartial = false
  /// Whether all later calls of the kind fail too.
  var isLasting = false
  /// What the operation's error may say of it.
  let errors: Set<KeepsakeError.Code>

  var description: String {
    "code \(code & 0xFF)\(code > 0xFF ? "/\(code >> 8)" : "")\(isPartial ? " halfway" : "")"
      + (isLasting ? " from then on" : "")
  }

  /// How a call may fail, each once and from then on; none for a call whose result SQLite has no
  /// use for, as when it gives a lock back.
  static func all(of call: shim_call) -> [Fault] {
    kinds(of: call).flatMap { fault in
      // Who waits for a lock tries again.
      fault.code == SQLITE_BUSY
        ? [fault] : [false, true].map { Fault(fault, isLasting: $0) }
    }
  }

  private static func kinds(of call: shim_call) -> [Fault] {
    switch call.operation {
    case shim_open: [Fault(SQLITE_CANTOPEN, .permissionDenied, .inputOutput)]
    case shim_read:
      // A short read of a log is its end, by definition.
      [Fault(ioError(1)), Fault(ioError(1), isPartial: true)]
        + (call.kind == SQLITE_OPEN_MAIN_DB ? [Fault(ioError(2), isPartial: true)] : [])
    case shim_write:
      [
        Fault(ioError(3), isPartial: true), Fault(SQLITE_FULL, .diskFull),
        Fault(SQLITE_FULL, isPartial: true, .diskFull),
      ]
    case shim_sync: [Fault(ioError(4))]
    case shim_truncate: [Fault(ioError(6))]
    case shim_size: [Fault(ioError(7))]
    case shim_delete: [Fault(ioError(10))]
    case shim_access: [Fault(ioError(13))]
    case shim_check_lock: [Fault(ioError(14))]
    case shim_lock: [Fault(ioError(15)), Fault(SQLITE_BUSY, .locked)]
    case shim_shm_map: [Fault(ioError(21))]
    case shim_shm_lock where call.argument & SQLITE_SHM_LOCK != 0:
      [Fault(ioError(20)), Fault(SQLITE_BUSY, .locked)]
    default: []
    }
  }

  /// SQLITE_IOERR with a detail: https://www.sqlite.org/rescode.html
  private static func ioError(_ detail: Int32) -> Int32 { SQLITE_IOERR | detail << 8 }

  private init(_ code: Int32, isPartial: Bool = false, _ errors: KeepsakeError.Code...) {
    (self.code, self.isPartial) = (code, isPartial)
    self.errors = errors.isEmpty ? [.inputOutput] : Set(errors)
  }

  private init(_ fault: Fault, isLasting: Bool) {
    self = fault
    self.isLasting = isLasting
  }
}
