// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a file knows of one store of a peer.
struct PeerRow: Equatable {
  /// The peer's mark up to which this file has read it.
  var cursor = Mark.start
  /// This file's newest mark that the peer has read.
  private(set) var own = Mark.start
  /// The last sync both ways, milliseconds since 1970.
  private(set) var syncedAt: Int64 = 0

  init() {}

  /// The columns of `PeerTable`.
  fileprivate init(_ row: Row) {
    (cursor, own, syncedAt) = (Mark(row, from: 2), Mark(row, from: 5), row.integer(8))
  }

  fileprivate var cells: [Cell] { cursor.cells + own.cells + [.integer(syncedAt)] }

  /// Notes that the peer has read this file up to a mark.
  ///
  /// - Parameter now: of the sync, which is noted at most once a day if nothing is new; nil for a
  ///   one-way merge.
  mutating func note(own mark: Mark, at now: Int64?) {
    let isNew = mark != own && mark.sequenceNumber >= own.sequenceNumber
    if isNew { own = mark }
    guard let now else { return }
    if isNew || isDue(at: now) { syncedAt = now }
  }

  /// Whether the time of a sync is noted though nothing is new.
  func isDue(at now: Int64) -> Bool { syncedAt > now || syncedAt < now - 86_400_000 }
}

/// Reads and writes the table `peer` of one file, within an access.
struct PeerTable {
  let connection: Connection

  private static let columns = """
    replica_id, store, cursor_number, cursor_timestamp, cursor_bits, own_number, own_timestamp,
    own_bits, synced_at
    """

  /// What is known of a peer, per store.
  func rows(of peer: ReplicaID) throws -> [ByteText: PeerRow] {
    try rows("WHERE replica_id = ?1", [.integer(peer.rawValue)])[peer] ?? [:]
  }

  func all() throws -> [ReplicaID: [ByteText: PeerRow]] { try rows("", []) }

  private func rows(
    _ condition: String, _ arguments: [Cell]
  ) throws -> [ReplicaID: [ByteText: PeerRow]] {
    var peers: [ReplicaID: [ByteText: PeerRow]] = [:]
    try connection.run("SELECT \(Self.columns) FROM main.peer \(condition)", arguments) { row in
      peers[ReplicaID(rawValue: row.integer(0)), default: [:]][ByteText(row.text(1))] = PeerRow(row)
      return true
    }
    return peers
  }

  /// Changes what is known of a peer.
  ///
  /// - Parameter stores: others than the synced ones are left out.
  /// - Returns: whether a mark has changed.
  @discardableResult
  func update(
    _ peer: ReplicaID, _ stores: [ByteText], _ body: (inout PeerRow) -> Void
  ) throws -> Bool {
    let before = try rows(of: peer)
    var hasNewMark = false
    for store in stores where StoreName.isSynced(store.string) {
      let old = before[store]
      var row = old ?? PeerRow()
      body(&row)
      if row == old { continue }
      try connection.run(
        """
        INSERT OR REPLACE INTO main.peer (\(Self.columns))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """, [.integer(peer.rawValue), .text(store.string)] + row.cells)
      hasNewMark = hasNewMark || row.cursor != old?.cursor || row.own != old?.own
    }
    return hasNewMark
  }
}

extension Connection {
  var peers: PeerTable { PeerTable(connection: self) }

  /// Per store, the highest sequence number of a tombstone that was dropped.
  func forgotten() throws -> [ByteText: Int64] {
    let rows = try all("SELECT store, sequence_number FROM main.forgotten") {
      (ByteText($0.text(0)), $0.integer(1))
    }
    // Another program may have written higher ones.
    let last = try rows.isEmpty ? 0 : ReplicaState(self).sequenceNumber
    return Dictionary(rows.filter { $1 <= last }, uniquingKeysWith: { $1 })
  }
}
