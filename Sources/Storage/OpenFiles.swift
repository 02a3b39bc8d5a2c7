// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Synchronization

/// The files that this process has open, or that its parent had when it called fork.
enum OpenFiles {
  private struct Users {
    let origin = Origin()
    var names: [NameCheck?] = []
  }

  private static let all = Mutex<[FileID: Users]>([:])

  static func add(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { $0[file, default: Users()].names.append(names) }
  }

  /// Before a connection is closed whose log still has its name: to close it removes the log.
  static func forgetNames(_ file: FileID, _ names: NameCheck?) {
    all.withLock { all in
      guard let index = all[file]?.names.firstIndex(where: { $0 === names }) else { return }
      all[file]?.names[index] = nil
    }
  }

  /// When it is closed.
  static func remove(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { all in
      if let index = all[file]?.names.firstIndex(where: { $0 === names }) {
        all[file]?.names.remove(at: index)
      }
      if all[file]?.names.isEmpty == true { all[file] = nil }
    }
  }

  /// Throws if a connection of this process, which may be closing, has a log that was removed:
  /// SQLite would use that one's index with another log.
  static func checkNames(_ file: FileID) throws(KeepsakeError) {
    for names in all.withLock({ $0[file]?.names ?? [] }) { try names?.check() }
  }

  static func has(_ file: FileID) -> Bool { all.withLock { $0[file] != nil } }

  static func isInherited(_ file: FileID) -> Bool {
    all.withLock { $0[file]?.origin.isThisProcess == false }
  }
}

extension Storage {
  /// Whether a parent of this process had the file open when it called fork; this process must not
  /// open it then, also when it no longer has anything of its parent's.
  package static func isInherited(_ file: FileID) -> Bool { OpenFiles.isInherited(file) }

  /// As `OpenFiles.checkNames`.
  package static func checkNames(_ file: FileID) throws(KeepsakeError) {
    try OpenFiles.checkNames(file)
  }

  /// In a child that fork has made: to close the connection would write to the file, without the
  /// locks for that.
  func keepOpenForever() {
    _ = Unmanaged.passRetained(database)
    // Another thread may have been using it.
    if let reader { _ = Unmanaged.passRetained(reader) }
    _ = Unmanaged.passRetained(turnstile)
  }
}
