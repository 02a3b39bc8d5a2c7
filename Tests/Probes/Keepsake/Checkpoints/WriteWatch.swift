// SPDX-License-Identifier: Apache-2.0

import Faults
import FileSystemShim
import Synchronization

/// Watches the writes into database files. Only a connection of this process may write, while one
/// of them holds the write lock of the log, or under the file's exclusive lock (the last one that
/// closes, and files without a log).
final class WriteWatch: FileSystemWatcher {
  fileprivate struct State {
    /// The level of the lock of each open file.
    var levels: [UInt: Int32] = [:]
    /// The open files that hold the write lock of a log, and their paths.
    var holders: [UInt: String] = [:]
    var unlocked = 0
    var checkpoints = 0
    var hook: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// How many pages were written into files that others could have written to.
  var unlocked: Int { state.withLock { $0.unlocked } }
  /// How many checkpoints were begun, without those of the last connection to close.
  var checkpoints: Int { state.withLock { $0.checkpoints } }

  /// Calls `hook` at the next page that a checkpoint writes, once.
  func atNextWrite(_ hook: @escaping @Sendable () -> Void) { state.withLock { $0.hook = hook } }

  func willMake(_ call: shim_call) -> shim_verdict {
    // Logs, journals and temporary files are SQLite's own matter.
    guard call.operation == shim_write, call.kind == SQLITE_OPEN_MAIN_DB else { return .pass }
    let (file, path) = (UInt(bitPattern: call.file), String(cString: call.path))
    let hook = state.withLock { state in
      let isExclusive = state.levels[file] == SQLITE_LOCK_EXCLUSIVE
      if !isExclusive, !state.holders.values.contains(path) { state.unlocked += 1 }
      guard !isExclusive else { return nil as (@Sendable () -> Void)? }
      defer { state.hook = nil }
      return state.hook
    }
    hook?()
    return .pass
  }

  func didMake(_ call: shim_call, code: Int32) {
    guard code == SQLITE_OK, call.kind == SQLITE_OPEN_MAIN_DB else { return }
    let file = UInt(bitPattern: call.file)
    state.withLock { state in
      switch call.operation {
      case shim_lock: state.levels[file] = max(state.levels[file] ?? 0, call.argument)
      case shim_unlock: state.levels[file] = min(state.levels[file] ?? 0, call.argument)
      case shim_shm_lock: state.note(call, file)
      case shim_close:
        state.levels[file] = nil
        state.holders[file] = nil
      default: break
      }
    }
  }
}

extension WriteWatch.State {
  fileprivate mutating func note(_ call: shim_call, _ file: UInt) {
    // The numbers of the write-ahead log's locks: https://www.sqlite.org/walformat.html#locks
    let (writeLock, checkpointLock): (Int64, Int64) = (0, 1)
    guard call.argument & SQLITE_SHM_EXCLUSIVE != 0 else { return }
    let isTaken = call.argument & SQLITE_SHM_LOCK != 0
    if (call.offset..<call.offset + Int64(call.count)).contains(writeLock) {
      holders[file] = isTaken ? String(cString: call.path) : nil
    }
    // Recovery of a log takes this lock with others.
    if call.offset == checkpointLock, call.count == 1, isTaken { checkpoints += 1 }
  }
}
