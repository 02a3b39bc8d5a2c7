// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a merge knows of a file, from one snapshot. Nothing else changes it while the merge has the
/// file's lease.
struct MergeSide {
  let id: ReplicaID
  /// The last sequence number.
  let sequenceNumber: Int64
  let stores: Set<ByteText>
  let forgotten: [ByteText: Int64]
  let peers: [ReplicaID: [ByteText: PeerRow]]
  /// Conflicts that the log no longer has.
  let droppedConflicts: Int64

  init(_ device: Device) throws(KeepsakeError) {
    self = try device.core.read { connection in
      // A newer version may have taken the file over.
      let replica =
        try device.isReadOnly ? ReplicaState(connection) : ReplicaState(writing: connection)
      return try MergeSide(connection, replica)
    }
  }

  private init(_ connection: Connection, _ replica: ReplicaState) throws {
    (id, sequenceNumber) = (replica.id, replica.sequenceNumber)
    stores = try connection.syncedStores()
    forgotten = try connection.forgotten()
    peers = try connection.peers.all()
    droppedConflicts = try connection.conflictLog.dropped()
  }

  /// Up to where the file has read a peer.
  func cursor(_ peer: ReplicaID, _ store: ByteText) -> Mark {
    peers[peer]?[store]?.cursor ?? .start
  }

  /// The stores in which a file has to be read from the beginning, because it has not read every
  /// deletion that this one has forgotten. It may still have what was deleted: the value comes
  /// back, and both are the same again.
  func storesInFull(of giver: MergeSide, _ stores: [ByteText]) -> Set<ByteText> {
    Set(stores.filter { forgotten[$0] ?? 0 > giver.cursor(id, $0).sequenceNumber })
  }
}
