// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage
import KeepsakeValues

extension Core {
  /// Writes the entries that were saved of removed logs (see `LostLog`), as in a sync: the last
  /// write of each key wins. A deletion in a store that is not synced leaves no tombstone, so it
  /// may be undone. Conflicts and defaults that only a removed log had stay lost.
  ///
  /// - Throws: `KeepsakeError`; then what was saved is still there.
  func bringInLostLogs() throws(KeepsakeError) {
    for path in LostLog.all(of: location.realPath) {
      do throws(KeepsakeError) {
        try bringIn(path)
        // Before the only other copy goes.
        try storage.synchronize()
      } catch {
        // Another process has done it, or does it now.
        if error.code == .locked || !FileStatus.exists(path) { continue }
        throw KeepsakeError(
          error.code, path: location.path,
          "\(path), which holds writes that are missing here, cannot be brought in: "
            + error.problem,
          cure: "\(error.cure); or move it away", cause: error)
      }
      LostLog.remove(path)
    }
  }

  private func bringIn(_ path: String) throws(KeepsakeError) {
    // Checks what it is.
    _ = try Opening.open(
      .file(path), readOnly: true, busyTimeout: storage.busyHandler.usual, hooks: OpeningHooks())
    try access { connection in
      try connection.run(
        "ATTACH DATABASE ?1 AS lost", [.text(Location.file(path).uri(.immutable))])
    }
    defer {
      // Fails only if the connection is broken, and then its next use says so.
      Result { try access { try $0.run("DETACH DATABASE lost") } }.discardFailure()
    }
    try write { connection in
      var replica = try ReplicaState(connection)
      let (id, last) =
        try connection.first("SELECT id, hlc FROM lost.replica") {
          ($0.integer(0), $0.integer(1))
        } ?? (0, 0)
      let isOwn = try connection.first(
        "SELECT 1 FROM replica WHERE id = ?1 UNION SELECT 1 FROM superseded WHERE id = ?1",
        [.integer(id)]
      ) { _ in true }
      guard isOwn == true else {
        throw KeepsakeError(
          .foreignLog, path: path, "it is of another device that had this file's name",
          cure: "merge it by kvsync merge")
      }
      let count = try Incoming.fill(
        connection, from: "FROM lost.entry AS e ORDER BY e.lseq", [])
      let changes = try Incoming.changes(connection, reason: .local)
      _ = try connection.entries.applyIncoming(after: replica.lseq)
      replica.lseq += Int64(count)
      replica.last = max(replica.last, HybridTimestamp(rawValue: last))
      try replica.save(connection)
      return ((), changes)
    }
  }
}
