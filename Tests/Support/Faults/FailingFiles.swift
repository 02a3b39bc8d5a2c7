// SPDX-License-Identifier: Apache-2.0

import FileSystemShim
import Foundation
import Synchronization

/// A file system whose n-th call fails.
final class FailingFiles: FileSystemWatcher {
  /// What has failed.
  struct Strike: CustomStringConvertible {
    let operation: String
    /// The file's name.
    let file: String
    let fault: Fault
    /// In how many ways this call can fail.
    let ways: Int

    /// Whether what is told as failed may be done: what could not be synced is there, and so is
    /// what could not be taken back.
    var mayBeDone: Bool {
      switch fault.reach {
      case .nothing: operation == shim_sync_folder.name
      case .sameCalls:
        [shim_sync_folder.name, shim_sync.name, shim_rename.name].contains(operation)
      case .everything: true
      }
    }

    var description: String { "\(operation) of \(file): \(fault)" }
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
    fault(call.operation.name, call.path.map { String(cString: $0) }, Fault.all(of: call))?
      .verdict(call) ?? .pass
  }

  /// - Returns: an `errno`, or 0.
  func willName(_ naming: shim_naming, _ path: String) -> Int32 {
    fault(naming.name, path, Fault.all(of: naming))?.code ?? 0
  }

  /// - Parameter faults: how the call at hand can fail.
  private func fault(_ operation: String, _ path: String?, _ faults: [Fault]) -> Fault? {
    state.withLock { state in
      guard state.place < .max, !faults.isEmpty else { return nil }
      if let strike = state.strike {
        switch strike.fault.reach {
        case .nothing: return nil
        case .sameCalls: return operation == strike.operation ? strike.fault : nil
        case .everything: return faults[0]
        }
      }
      state.count += 1
      guard state.count == state.place else { return nil }
      let fault = faults[state.way]
      state.strike = Strike(
        operation: operation, file: Self.name(path), fault: fault, ways: faults.count)
      return fault
    }
  }

  private static func name(_ path: String?) -> String {
    guard let path, path != "" else { return "a temporary file" }
    return (path as NSString).lastPathComponent
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

extension shim_naming {
  fileprivate var name: String {
    switch self {
    case shim_link: "link"
    case shim_rename: "rename"
    case shim_make_folder: "making of the folder"
    case shim_sync_folder: "sync of the folder"
    default: "naming \(rawValue)"
    }
  }
}
