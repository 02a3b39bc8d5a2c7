// SPDX-License-Identifier: Apache-2.0

import GRDB
import KeepsakeValues
import Synchronization

/// The files that this process has open, or that its parent had when it called fork.
enum OpenFiles {
  private struct Users {
    let origin = Origin()
    var count = 0
  }

  private static let all = Mutex<[FileID: Users]>([:])

  static func add(_ file: FileID) {
    all.withLock { $0[file, default: Users()].count += 1 }
  }

  /// When it is closed.
  static func remove(_ file: FileID) {
    all.withLock { all in
      all[file]?.count -= 1
      if all[file]?.count == 0 { all[file] = nil }
    }
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

  /// In a child that fork has made: to close the connection would write to the file, without the
  /// locks for that.
  func keepOpenForever() {
    _ = Unmanaged.passRetained(database)
    // Another thread may have been using it.
    if let reader { _ = Unmanaged.passRetained(reader) }
    _ = Unmanaged.passRetained(turnstile)
  }
}
