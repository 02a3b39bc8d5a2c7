// SPDX-License-Identifier: Apache-2.0

import FileSystemShim
import Foundation
import Synchronization

/// A file system whose n-th call fails.
final class FailingFiles: FileSystemWatcher {
  /// What has failed.
  struct Strike: CustomStringConvertible {
    let operation: shim_operation
    /// The file's name.
    let file: String
    let fault: Fault
    /// In how many ways this call can fail.
    let ways: Int

    var description: String { "\(operation.name) of \(file): \(fault)" }
  }

  private struct State {
    var place = Int.max
    var way = 0
    var count = 0
    var strike: Strike?
  }

  private let state = Mutex(State())

  /// From now on, the call at this place of all that can fail does.
  ///
  /// - Parameters:
  ///   - place: counts from 1.
  ///   - way: in which of its ways.
  func arm(_ place: Int, way: Int) {
    state.withLock { $0 = State(place: place, way: way) }
  }

  /// - Returns: what has failed; nil when there were fewer calls.
  func disarm() -> Strike? {
    state.withLock { state in
      defer { state = State() }
      return state.strike
    }
  }

  func willMake(_ call: shim_call) -> shim_verdict {
    state.withLock { state in
      guard state.place < .max else { return .pass }
      if let strike = state.strike {
        let isSame = strike.fault.isLasting && call.operation == strike.operation
        return isSame && !Fault.all(of: call).isEmpty ? strike.fault.verdict(call) : .pass
      }
      let faults = Fault.all(of: call)
      if !faults.isEmpty { state.count += 1 }
      guard state.count == state.place else { return .pass }
      let strike = Strike(
        operation: call.operation, file: Self.name(call), fault: faults[state.way],
        ways: faults.count)
      state.strike = strike
      return strike.fault.verdict(call)
    }
  }

  private static func name(_ call: shim_call) -> String {
    let name = (call.path.map { String(cString: $0) } ?? "") as NSString
    return name.length == 0 ? "a temporary file" : name.lastPathComponent
  }
}

extension Fault {
  fileprivate func verdict(_ call: shim_call) -> shim_verdict {
    .fail(code, partial: isPartial ? call.count / 2 : 0)
  }
}

extension shim_operation {
  var name: String {
    switch self {
    case shim_open: "open"
    case shim_read: "read"
    case shim_write: "write"
    case shim_truncate: "truncate"
    case shim_sync: "sync"
    case shim_size: "size"
    case shim_lock: "lock"
    case shim_check_lock: "look at the lock"
    case shim_shm_map: "mapping"
    case shim_shm_lock: "shared lock"
    case shim_delete: "delete"
    case shim_access: "access"
    default: "call \(rawValue)"
    }
  }
}
