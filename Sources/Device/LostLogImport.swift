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
  /// - Marks, cursors and version vectors: the device takes a new replica ID, as if a backup was
  ///   restored, so the next sync reads in full.
  /// - Replica IDs, present and former: the device keeps those of its file.
  ///
  /// - Throws: `KeepsakeError`; then what was saved is still there.
  func bringInLostLogs() throws(KeepsakeError) {
    for path in LostLog.all(of: location.realPath) {
      do throws(KeepsakeError) {
        // A merge of this process uses the same temporary tables.
        try Lease.hold([storage], waiting: .seconds(60), joins: true) {
          () throws(KeepsakeError) in
          try bringIn(path)
        }
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
      try Incoming.prepare(connection)
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
        try connection.first("SELECT id, timestamp FROM lost.replica") {
          ($0.integer(0), $0.integer(1))
        } ?? (0, 0)
      // Either may have got a new replica ID since.
      let isOwn = try connection.first(
        """
        SELECT 1 FROM replica WHERE id = ?1 OR id IN (SELECT id FROM lost.former_replica)
        UNION SELECT 1 FROM former_replica WHERE id = ?1
        """, [.integer(id)]
      ) { _ in true }
      guard isOwn == true else {
        throw KeepsakeError(
          .foreignLog, path: path, "it is of another device that had this file's name",
          cure: "merge it by kvsync merge")
      }
      let changes = try bringInEntries(connection, of: id, &replica)
      replica.last = max(replica.last, HybridTimestamp(rawValue: last))
      try replica.save(connection)
      try connection.conflictLog.bringIn(from: "lost")
      return ((), changes)
    }
  }

  /// The last write of each key wins; nothing of it is a conflict.
  private func bringInEntries(
    _ connection: Connection, of id: Int64, _ replica: inout ReplicaState
  ) throws -> [SettingChange] {
    try connection.run(
      """
      INSERT INTO incoming
      SELECT sequence_number, store, key, type, value, timestamp, replica_id FROM lost.entry
      """)
    let horizon = HybridTimestamp(rawValue: .max)
    try Incoming.decide(connection, upTo: horizon, replica)
    try connection.run("UPDATE decision SET logs = 0")
    try renameOwnWrites(connection, of: id, &replica)
    var changes: [SettingChange] = []
    try Incoming.forEachChange(connection, reason: .local) { change, _ in
      changes.append(change)
      return true
    }
    _ = try Incoming.apply(connection, upTo: horizon, &replica, at: 0)
    try Incoming.clear(connection)
    return changes
  }

  /// Gives the device a new replica ID, and with it what is brought in of its own: others may have
  /// read later writes under the old one, and then take these for read.
  private func renameOwnWrites(
    _ connection: Connection, of id: Int64, _ replica: inout ReplicaState
  ) throws {
    let hasAny = try connection.first("SELECT 1 FROM decision WHERE applies") { _ in true }
    guard hasAny == true else { return }
    let now = replica.last.milliseconds
    try connection.takeNewID(.random(), reason: .restore, at: now, &replica)
    try connection.run(
      "UPDATE incoming SET replica_id = ?2 WHERE replica_id = ?1",
      [.integer(id), .integer(replica.id.rawValue)])
  }
}
