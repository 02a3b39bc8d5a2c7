// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The files that this process has open.
package enum OpenFiles {
  private static let all = Mutex<[FileID: [NameCheck?]]>([:])

  static func add(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { $0[file, default: []].append(names) }
  }

  /// Stops checking the names of a connection that is about to remove its log.
  static func stopChecking(_ names: NameCheck?, of file: FileID) {
    all.withLock { all in
      if let index = all[file]?.firstIndex(where: { $0 === names }) { all[file]?[index] = nil }
    }
  }

  /// When it is closed.
  static func remove(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { all in
      if let index = all[file]?.firstIndex(where: { $0 === names }) {
        all[file]?.remove(at: index)
      }
      if all[file]?.isEmpty == true { all[file] = nil }
    }
  }

  /// Throws if a connection of this process has a log that was removed: SQLite would use that one's
  /// index with another log.
  package static func checkNames(_ file: FileID) throws(KeepsakeError) {
    for case let names? in all.withLock({ $0[file] ?? [] }) {
      do throws(KeepsakeError) {
        try names.check()
      } catch {
        // One that is being closed removes its log.
        if all.withLock({ $0[file]?.contains { $0 === names } == true }) { throw error }
      }
    }
  }

  static func has(_ file: FileID) -> Bool { all.withLock { $0[file] != nil } }
}
