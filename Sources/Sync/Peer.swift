// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeValues

extension Device {
  /// Another device that this one has met.
  public struct Peer: Sendable, Equatable {
    /// What was exchanged of one store.
    public struct Progress: Sendable, Equatable {
      /// The store's name on the device.
      public let store: String
      /// Their local sequence number up to which this device has read them.
      public let read: Int64
      /// This device's local sequence number up to which they have read, as far as this one knows.
      public let acknowledged: Int64
    }

    /// Its identity.
    public let id: ReplicaID
    /// When they met, by this device's clock; to the day where nothing was exchanged.
    public let lastMet: Date
    /// Whether the collection of tombstones no longer waits for it. It ends when they meet again.
    public let isRetired: Bool
    /// One for each store that was exchanged, by name.
    public let stores: [Progress]
  }

  /// All that this device has met under its present identity, the longest unmet first.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func peers() throws(KeepsakeError) -> [Peer] {
    try core.access { connection in
      var stores: [ReplicaID: [Peer.Progress]] = [:]
      try connection.run("SELECT peer, store, cursor, acked FROM peer ORDER BY peer, store") {
        stores[ReplicaID(rawValue: $0.integer(0)), default: []].append(
          Peer.Progress(
            store: $0.text(1), read: $0.integer(2), acknowledged: $0.integer(3)))
        return true
      }
      return try connection.all(
        "SELECT peer, max(last_met), min(retired) FROM peer GROUP BY peer ORDER BY 2, 1"
      ) { row in
        let id = ReplicaID(rawValue: row.integer(0))
        return Peer(
          id: id, lastMet: Date(milliseconds: row.integer(1)), isRetired: row.integer(2) != 0,
          stores: stores[id] ?? [])
      }
    }
  }

  /// What a peer lacks of this device's entries of a store, as far as this one knows: how many, and
  /// since when. O(what it lacks).
  package func lack(
    of progress: Peer.Progress, at peer: Peer
  ) throws(KeepsakeError) -> (count: Int, since: HybridTimestamp?) {
    try core.access { connection in
      try connection.first(
        """
        SELECT count(*), ifnull(min(hlc), 0) FROM entry INDEXED BY entry_lseq
        WHERE lseq > ?1 AND store = ?2 AND origin <> ?3
        """,
        [.integer(progress.acknowledged), .text(progress.store), .integer(peer.id.rawValue)]
      ) { row in
        let count = Int(row.integer(0))
        return (count, count > 0 ? HybridTimestamp(rawValue: row.integer(1)) : nil)
      } ?? (0, nil)
    }
  }

  /// No longer waits for a device that will not come back, when tombstones are collected. Should it
  /// come back, it still gets every deletion that a grave is left of.
  ///
  /// - Throws: `KeepsakeError`; then nothing was written.
  public func retire(_ peer: ReplicaID) throws(KeepsakeError) {
    try leased(joins: true) { () throws(KeepsakeError) in
      try core.write { (try $0.peers.retire(peer), []) }
    }
  }
}
