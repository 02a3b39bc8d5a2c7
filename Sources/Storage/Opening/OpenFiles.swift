// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The files that this process has open.
package enum OpenFiles {
  private static let all = Mutex<[FileID: [NameCheck?]]>([:])
  /// Held while a connection is closed: it may remove the log of one that was closed just before.
  private static let closing = FileLocks()

  static func add(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { $0[file, default: []].append(names) }
  }

  static func remove(_ file: FileID, _ names: NameCheck? = nil) {
    all.withLock { all in
      if let index = all[file]?.firstIndex(where: { $0 === names }) {
        all[file]?.remove(at: index)
      }
      if all[file]?.isEmpty == true { all[file] = nil }
    }
  }

  /// Closes a connection by `body`, then removes it.
  static func close(_ file: FileID, _ names: NameCheck?, _ body: () -> Void) {
    closing.withLock(of: file) {
      body()
      remove(file, names)
    }
  }

  /// Throws if a connection of this process has a log that was removed: SQLite would use that one's
  /// index with another log.
  package static func checkNames(_ file: FileID) throws(KeepsakeError) {
    for case let names? in all.withLock({ $0[file] ?? [] }) {
      do throws(KeepsakeError) {
        try names.check()
      } catch {
        // One that is being closed removes the log.
        closing.withLock(of: file) {}
        if all.withLock({ $0[file]?.contains { $0 === names } == true }) { throw error }
      }
    }
  }

  static func has(_ file: FileID) -> Bool { all.withLock { $0[file] != nil } }
}
