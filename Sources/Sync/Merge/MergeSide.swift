// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// A file of a merge, and what the merge knows of it.
@dynamicMemberLookup
struct MergeSide {
  let device: Device
  private var facts: Facts

  /// The facts that a merge has read of a file, from one snapshot. Applications may write after it;
  /// no other merge, compaction or repair does while this merge has the file's lease.
  struct Facts: Sendable {
    fileprivate let version: ReadVersion?
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
  }

  /// Reads the file, unless it is as it was when it was read last.
  init(_ device: Device) throws(KeepsakeError) {
    self.device = device
    let tables = device.tables
    if let known = tables.mergeFacts as? Facts {
      facts = known
      if let version = known.version, device.versions.isNow(version) { return }
    }
    let version = device.versions.now
    facts = try tables.read { try Facts($0, version, isReadOnly: device.isReadOnly) }
    tables.mergeFacts = facts
  }

  subscript<Value>(dynamicMember path: KeyPath<Facts, Value>) -> Value { facts[keyPath: path] }

  /// Whether this file has read all of another one, and knows that the other has read all of it.
  func hasAll(of other: MergeSide, _ stores: [ByteText]) -> Bool {
    stores.allSatisfy { store in
      guard let row = facts.peers[other.id]?[store], other.isMarked else { return false }
      return row.cursor == other.mark && row.own == facts.mark
    }
  }

  /// Up to where the file has read a peer.
  func cursor(of peer: ReplicaID, in store: ByteText) -> Mark {
    facts.peers[peer]?[store]?.cursor ?? .start
  }

  /// The file's newest mark that a peer has read, in any store.
  func ownMark(for peer: ReplicaID) -> Mark {
    facts.peers[peer]?.values.map(\.own).max { $0.sequenceNumber < $1.sequenceNumber } ?? .start
  }

  /// The stores in which a file has not read every deletion that this one has forgotten. It may
  /// still have what was deleted.
  func deletionsUnread(by reader: MergeSide, _ stores: [ByteText]) -> Set<ByteText> {
    let unread = stores.filter { store in
      let cursor = reader.cursor(of: facts.id, in: store)
      return facts.forgotten[store] ?? 0 > cursor.sequenceNumber
    }
    return Set(unread)
  }
}

extension MergeSide.Facts {
  fileprivate init(
    _ connection: Connection, _ version: ReadVersion?, isReadOnly: Bool
  ) throws {
    self.version = version
    // A newer version may have taken the file over.
    let replica =
      try isReadOnly ? ReplicaState(connection) : ReplicaState(writing: connection)
    (id, sequenceNumber) = (replica.id, replica.sequenceNumber)
    formerIDs = try connection.all("SELECT id FROM former_replica") {
      ReplicaID(rawValue: $0.integer(0))
    }
    stores = try connection.syncedStores()
    forgotten = try connection.forgotten()
    peers = try connection.peers.all()
    (mark, isMarked) = try connection.marks.state()
  }
}
