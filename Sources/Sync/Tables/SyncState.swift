// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import KeepsakeDevice
import KeepsakeValues

/// The sync state of a store: whether other devices have what was written here.
public enum SyncState: Sendable, Hashable {
  /// It was never synced: no other device has what is set here, and this one has nothing of theirs.
  case neverSynced
  /// Another device has all that was written here.
  ///
  /// - Parameter asOf: the time of the last sync, to the day if it changed nothing. What others
  ///   have written since is not known here.
  case upToDate(asOf: Date)
  /// So many keys were written here since, and no other device knows of it.
  case pending(changes: Int, asOf: Date)
}

extension Device {
  /// How a store stands with other devices, by what this device remembers of its syncs.
  ///
  /// A device that has read from here by one-way merges alone does not count.
  /// O(what was written since).
  package func syncState(of store: String) throws(KeepsakeError) -> SyncState {
    try tables.survey { connection in
      let synced = try connection.first(
        """
        SELECT max(time), max(number) FROM (
          SELECT synced_at AS time, own_number AS number FROM peer
          WHERE store = ?1 AND synced_at > 0
          UNION ALL SELECT synced_at, sent_number FROM hub)
        """, [.text(store)]
      ) { ($0.integer(0), $0.integer(1)) }
      guard let (time, number) = synced, time > 0 else { return .neverSynced }
      let pending = try connection.first(
        """
        SELECT count(*) FROM entry INDEXED BY entry_sequence
        WHERE sequence_number > ?1 AND store = ?2 AND replica_id IN (
          SELECT id FROM replica UNION ALL SELECT id FROM former_replica)
        """, [.integer(number), .text(store)]
      ) { Int($0.integer(0)) }
      let asOf = Date(milliseconds: time)
      guard let pending, pending > 0 else { return .upToDate(asOf: asOf) }
      return .pending(changes: pending, asOf: asOf)
    }
  }
}
