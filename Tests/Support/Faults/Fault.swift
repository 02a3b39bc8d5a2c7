// SPDX-License-Identifier: Apache-2.0

import CSQLite
import FileSystemShim
import Foundation
import KeepsakeDevice

/// A way in which one call to the file system fails, of SQLite or of ours.
struct Fault: CustomStringConvertible {
  /// What else fails from then on.
  enum Reach: String {
    case nothing = ""
    case sameCalls = " from then on"
    /// As when the disk is gone.
    case everything = ", and everything from then on"
  }

  /// What the call returns: of SQLite; or an `errno`.
  let code: Int32
  /// Whether half of a read or write is done nevertheless.
  var isPartial = false
  var reach = Reach.nothing
  /// What the operation's error may say of it.
  private(set) var errors: Set<KeepsakeError.Code>

  var description: String {
    "code \(code & 0xFF)\(code > 0xFF ? "/\(code >> 8)" : "")\(isPartial ? " halfway" : "")"
      + reach.rawValue
  }

  /// How a call of SQLite may fail; none for one whose result it has no use for, as when it gives a
  /// lock back.
  static func all(of call: shim_call) -> [Fault] { reaching(kinds(of: call)) }

  /// How a call of ours may fail. Not the removal of what is no longer needed: that would stay.
  static func all(of naming: shim_naming) -> [Fault] {
    switch naming {
    case shim_sync_folder: reaching([Fault(EIO)])
    case shim_link, shim_rename, shim_make_folder:
      reaching([Fault(EIO, .inputOutput, .cannotCreate), Fault(ENOSPC, .diskFull)])
    default: []
    }
  }

  private static func reaching(_ faults: [Fault]) -> [Fault] {
    let each = faults.flatMap { fault in
      // Who waits for a lock tries again.
      fault.code == SQLITE_BUSY
        ? [fault] : [fault, Fault(fault, .sameCalls)]
    }
    return each + faults.prefix(1).map { Fault($0, .everything) }
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

  private init(_ fault: Fault, _ reach: Reach) {
    self = fault
    self.reach = reach
    if reach == .everything { errors.formUnion([.inputOutput, .cannotCreate, .permissionDenied]) }
  }
}
