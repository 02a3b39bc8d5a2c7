// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage
import KeepsakeValues

extension Core {
  /// Writes the entries and conflicts that were saved of removed logs (see `LostLog`). As in a
  /// sync, the last write of each key wins.
  ///
  /// Not brought in:
  /// - Deletions in stores that are not synced: they leave no tombstone, so they may be undone.
  /// - Defaults from Settings bundles: the next seeding writes them again.
  /// - What is known of peers, with the entries that wait for their time: to other devices this one
  ///   is as if a backup was restored, so they send again what they have sent since.
  /// - Replica IDs, present and former: the device keeps those of its file. What it wrote under
  ///   another one comes in, and counts as written by another device when conflicts are looked for.
  /// - Revoked timestamps. If the clock was repaired in only one of the two, the repair is undone,
  ///   because the late timestamps win. The next opening of a store repairs a clock that is still
  ///   more than a day ahead. Revocations of other devices come again with the next sync.
  ///
  /// - Throws: `KeepsakeError`; then what was saved is still there.
  func bringInLostLogs() throws(KeepsakeError) {
    for path in LostLog.all(of: location.realPath) {
      do throws(KeepsakeError) {
        try bringIn(path)
        // Before the only other copy goes.
        try storage.synchronize()
        // A file that stays would be brought in again: local deletions since would be undone.
        try LostLog.remove(path)
      } catch {
        // Another process has done it, or does it now.
        if error.code == .locked || !FileStatus.exists(path) { continue }
        throw KeepsakeError(
          error.code, path: location.path,
          "\(path), which holds writes to a log that was removed, cannot be brought in and "
            + "removed: \(error.problem)",
          cure: "\(error.cure); or move it away", cause: error)
      }
    }
  }

  private func bringIn(_ path: String) throws(KeepsakeError) {
    try LostLog.check(path, waiting: storage.busyHandler.usual)
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
      // Either may have got a new replica ID since.
      let isOwn = try connection.first(
        """
        SELECT 1 FROM replica WHERE id = ?1 OR id IN (SELECT id FROM lost.superseded)
        UNION SELECT 1 FROM superseded WHERE id = ?1
        """, [.integer(id)]
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
      try connection.conflictLog.bringIn(from: "lost")
      return ((), changes)
    }
  }
}
