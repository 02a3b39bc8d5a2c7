// SPDX-License-Identifier: Apache-2.0
//
// What only a removed log holds. The process that has it open saves what it sees through it to a
// device file beside the device's own, `<file>.lost-log-<random>`, for its user to merge: SQLite
// shares one index among all connections of a process to a file, so this process cannot use the new
// log before it has closed the old one.

import Foundation
import KeepsakeValues

package enum LostLog {
  private static let infix = ".lost-log-"

  static func newName(for file: String) -> String { file + infix + ReplicaID.random().description }

  /// What was saved of the removed logs of a file.
  package static func all(of file: String) -> [String] {
    let folder = FileStatus.folder(of: file)
    let prefix = (file.split(separator: "/").last ?? "") + infix
    return Draft.names(in: folder)
      .filter {
        $0.utf8.starts(with: prefix.utf8)
          && $0.dropFirst(prefix.count).wholeMatch(of: /[0-9a-f]{16}/) != nil
      }
      .sorted().map { folder + "/" + $0 }
  }
}

extension Storage {
  /// Saves what this process sees of the device, once, if its log was removed.
  ///
  /// - Returns: the error that names the saved file; nil if there is nothing to save, or another
  ///   thread saves it.
  /// - Throws: `KeepsakeError` if it cannot be saved; the next call tries again.
  func saveLostLog() throws(KeepsakeError) -> KeepsakeError? {
    guard names?.isKnownToHaveLostLog == true else { return nil }
    if savesLostLog.exchange(true, ordering: .acquiringAndReleasing) {
      return savedLostLog.withLock { $0 }
    }
    do throws(KeepsakeError) {
      let draft = try Draft(of: LostLog.newName(for: location.realPath))
      try draft.makeEmpty()
      try backUp(to: draft.path)
      try refuseMixture(draft)
      // Each user of the device's file must be able to merge this one.
      if let status = try FileStatus(of: location.realPath) {
        _ = chown(draft.path, status.owner, status.group)
        _ = chmod(draft.path, status.permissions)
      }
      // The name is random: nothing has it.
      _ = try draft.publish()
      let saved = KeepsakeError(
        .inputOutput, path: location.path,
        "its log was removed while it was open; what that log held is in \(draft.target)",
        cure: "open it anew, and merge that file, with --store for each store that does not sync; "
          + "keep cleaners away from the files beside it")
      savedLostLog.withLock { $0 = saved }
      return saved
    } catch {
      savesLostLog.store(false, ordering: .releasing)
      throw KeepsakeError(
        error.code, path: location.path,
        "its log was removed while it was open, and what only that log holds cannot be saved: "
          + error.problem,
        cure: error.cure, cause: error)
    }
  }

  /// Another process that has moved its own log into the file has changed pages that this one reads
  /// together with the removed log.
  private func refuseMixture(_ draft: Draft) throws(KeepsakeError) {
    let copy = Location.file(draft.path)
    do {
      let database = try Connector.connect(copy, .readWrite, busyHandler)
      defer { database.close() }
      if let problem = try database.connection(copy).integrityProblems(limit: 1).first {
        throw KeepsakeError(
          .corrupt, path: location.path,
          "another program has changed the file since (\(problem))",
          cure: "restore a backup if something is missing")
      }
    } catch {
      throw KeepsakeError(error, path: location.path)
    }
    try Checkpoint.emptyLog(copy, waiting: busyHandler.usual)
  }
}
