// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// A file of a merge, and what the merge knows of it, from one snapshot. Nothing else changes that
/// while the merge has the file's lease.
struct MergeSide {
  let device: Device
  private let version: ReadVersion?
  let id: ReplicaID
  /// Replica IDs that the file had before.
  let formerIDs: [ReplicaID]
  /// The last sequence number.
  let sequenceNumber: Int64
  /// The newest mark.
  let mark: Mark
  /// Whether nothing in a synced store came after it.
  let isMarked: Bool
  let stores: Set<ByteText>
  let forgotten: [ByteText: Int64]
  let peers: [ReplicaID: [ByteText: PeerRow]]

  init(_ device: Device) throws(KeepsakeError) {
    let version = device.core.versions.now
    self = try device.core.read { try MergeSide(device, version, $0) }
  }

  private init(_ device: Device, _ version: ReadVersion?, _ connection: Connection) throws {
    (self.device, self.version) = (device, version)
    // A newer version may have taken the file over.
    let replica =
      try device.isReadOnly ? ReplicaState(connection) : ReplicaState(writing: connection)
    (id, sequenceNumber) = (replica.id, replica.sequenceNumber)
    formerIDs = try connection.all("SELECT id FROM former_replica") {
      ReplicaID(rawValue: $0.integer(0))
    }
    stores = try connection.syncedStores()
    forgotten = try connection.forgotten()
    peers = try connection.peers.all()
    (mark, isMarked) = try connection.marks.state()
  }

  /// Whether the file has not changed since.
  var isNow: Bool { version.map(device.core.versions.isNow) ?? false }

  /// Whether this file has read all of another one, and knows that the other has read all of it.
  func hasAll(of other: MergeSide, _ stores: [ByteText]) -> Bool {
    stores.allSatisfy { store in
      guard let row = peers[other.id]?[store], other.isMarked else { return false }
      return row.cursor == other.mark && row.own == mark
    }
  }

  /// Up to where the file has read a peer.
  func cursor(_ peer: ReplicaID, _ store: ByteText) -> Mark {
    peers[peer]?[store]?.cursor ?? .start
  }

  /// The file's newest mark that a peer has read, in any store.
  func ownMark(for peer: ReplicaID) -> Mark {
    peers[peer]?.values.map(\.own).max { $0.sequenceNumber < $1.sequenceNumber } ?? .start
  }

  /// The stores in which a file has not read every deletion that this one has forgotten. It may
  /// still have what was deleted.
  func deletionsUnread(by reader: MergeSide, _ stores: [ByteText]) -> Set<ByteText> {
    Set(stores.filter { forgotten[$0] ?? 0 > reader.cursor(id, $0).sequenceNumber })
  }
}
