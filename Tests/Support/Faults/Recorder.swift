// SPDX-License-Identifier: Apache-2.0
//
// Files are followed by what they are, not by their names: a draft is written under one name and
// read under another.

import CSQLite
import FileSystemShim
import Foundation
import Synchronization

/// Records what SQLite, and this process itself, do to the files in a folder.
///
/// By one thread at a time: what two do at once has no order.
final class Recorder: FileSystemWatcher {
  fileprivate struct State {
    var recording = Recording()
    var names: [String: Recording.File] = [:]
    var open: [UInt: Recording.File] = [:]
    var count = 0

    mutating func newFile() -> Recording.File {
      defer { count += 1 }
      return count
    }
  }

  private let state = Mutex(State())
  private let folder: String

  init(_ folder: String) { self.folder = folder + "/" }

  /// Watches this process from now on; of recorders the last one.
  func start() {
    FileSystemCalls.watch(self)
    FileSystemCalls.watchNames(did: { [weak self] in self?.note($0, $1, $2) })
  }

  func stop() {
    FileSystemCalls.watch(nil)
    FileSystemCalls.watchNames()
  }

  /// How much has been recorded.
  var count: Int { state.withLock { $0.recording.events.count } }
  var recording: Recording { state.withLock { $0.recording } }

  func didMake(_ call: shim_call, code: Int32) {
    guard code == SQLITE_OK, let path = call.path.map({ String(cString: $0) }),
      path.hasPrefix(folder)
    else { return }
    let handle = UInt(bitPattern: call.file)
    state.withLock { state in
      if call.operation == shim_open {
        state.open[handle] = state.file(path)
        return
      }
      guard let file = state.open[handle] else { return }
      switch call.operation {
      case shim_write:
        let bytes = UnsafeRawBufferPointer(start: call.data, count: Int(call.count))
        state.recording.events.append(.write(file, offset: Int(call.offset), [UInt8](bytes)))
      case shim_truncate: state.recording.events.append(.truncate(file, to: Int(call.offset)))
      case shim_sync: state.recording.events.append(.sync(file))
      case shim_close: state.open[handle] = nil
      default: break
      }
    }
  }

  private func note(_ naming: shim_naming, _ path: String, _ other: String?) {
    state.withLock { state in
      switch naming {
      case shim_sync_folder: state.recording.events.append(.syncFolder(path))
      case shim_unlink: state.name(path, nil)
      case shim_make_folder: break
      default:
        guard let other, let file = state.names[path] else { return }
        state.name(other, file)
        if naming == shim_rename { state.name(path, nil) }
      }
    }
  }
}

extension Recorder.State {
  /// The file that a path leads to; a new one where nothing has been seen.
  fileprivate mutating func file(_ path: String) -> Recording.File {
    if let file = names[path] { return file }
    let file = newFile()
    name(path, file)
    return file
  }

  fileprivate mutating func name(_ path: String, _ file: Recording.File?) {
    // What SQLite never opens, as the file of a lock, has nothing to lose.
    guard names[path] != file else { return }
    names[path] = file
    recording.events.append(.name(path, file))
  }
}
