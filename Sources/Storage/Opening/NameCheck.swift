// SPDX-License-Identifier: Apache-2.0
//
// Whether a file, its log and its index still have their names while they are open. A backup tool
// or a cleaner that removes the log of an open file removes its name only: this process goes on
// writing to it, while the next process to open the file begins another log and reads nothing of
// this one.
//
// Any change of a name changes the folder's time of change, so most checks are one stat(2) of the
// folder. That time has a granularity of up to two seconds, or, where it is no whole number of
// milliseconds, of one tick of the system's clock: it is relied on only once it lies further back.

import Foundation
import Synchronization

/// Compares what a process has open with what has the names now.
package final class NameCheck: Sendable {
  /// Longer than the granularity of a time of change, in nanoseconds: that of FAT, or a tick.
  private static func granularity(of change: Int64) -> Int64 {
    change % 1_000_000 == 0 ? 2_100_000_000 : 20_000_000
  }

  private let path: String
  private let folder: String
  private let files: [(path: String, id: FileID?)]
  /// The folder when every name was right.
  private let verified = Mutex<FileStatus?>(nil)
  private let lostLog = Atomic<Bool>(false)

  /// Nil in memory. If the log has no name any more, every check throws.
  ///
  /// - Parameter suffixes: of the files beside it that SQLite has just opened.
  /// - Throws: `KeepsakeError` if the file itself has no name any more.
  package init?(_ location: Location, _ suffixes: [String]) throws(KeepsakeError) {
    guard case .file(let path, let real) = location else { return nil }
    self.path = path
    folder = FileStatus.folder(of: real)
    var files: [(path: String, id: FileID?)] = []
    for name in [real] + suffixes.map({ real + $0 }) { files.append((name, try FileID(of: name))) }
    self.files = files
    guard files[0].id != nil else { throw Self.lost(real, isLog: false, path: path) }
    if files.contains(where: { $0.id == nil }) { lostLog.store(true, ordering: .relaxed) }
  }

  /// Throws if a name leads to nothing, or to another file: what is written would be lost. Once the
  /// log has lost its name this throws for good.
  package func check() throws(KeepsakeError) {
    let present = try FileStatus(of: folder)
    if let present, present == verified.withLock({ $0 }) { return }
    if isKnownToHaveLostLog { throw Self.lost(files[1].path, isLog: true, path: path) }
    for (index, file) in files.enumerated() where try FileID(of: file.path) != file.id {
      if index > 0 {
        lostLog.store(true, ordering: .relaxed)
        verified.withLock { $0 = nil }
      }
      throw Self.lost(file.path, isLog: index > 0, path: path)
    }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let time = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    if let present, time - present.change > Self.granularity(of: present.change) {
      verified.withLock { $0 = present }
    }
  }

  /// Whether a check has found that the log or the index has lost its name.
  var isKnownToHaveLostLog: Bool { lostLog.load(ordering: .relaxed) }

  /// Whether every name is known to be right.
  var areRight: Bool {
    if case .success = Result(catching: { try check() }) { true } else { false }
  }

  private static func lost(_ name: String, isLog: Bool, path: String) -> KeepsakeError {
    guard isLog else { return KeepsakeError.movedAway(path) }
    return KeepsakeError(
      .inputOutput, path: path, "\(name) was removed while it was open, so nothing was written",
      cure: "open it anew; keep cleaners away from the files beside it")
  }
}
