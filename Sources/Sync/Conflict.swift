// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
public import KeepsakeValues

/// A write that lost to one made without knowledge of it. Its value is kept, whole.
public struct Conflict: Sendable, Hashable {
  /// Its number in the device's journal.
  public let id: Int64
  public let store: String
  public let key: String
  /// What was lost; nil is a deletion.
  public let lost: StoredValue?
  public let lostStamp: HybridTimestamp
  public let lostOrigin: ReplicaID
  /// Whether what won is a deletion.
  public let winnerIsDeletion: Bool
  public let winnerStamp: HybridTimestamp
  public let winnerOrigin: ReplicaID
  /// When it was found, in milliseconds since 1970.
  public let foundAt: Int64
}

extension Device {
  /// The journal, oldest first.
  ///
  /// - Parameter store: only conflicts of this store; nil for all.
  package func conflicts(store: String? = nil) throws(KeepsakeError) -> [Conflict] {
    try core.access { try $0.conflicts(after: 0, store: store) }
  }

  /// One conflict of the journal; nil when it has none of this number.
  package func conflict(id: Int64) throws(KeepsakeError) -> Conflict? {
    try core.access { try $0.conflicts(after: id &- 1, limit: 1).first { $0.id == id } }
  }

  /// How many conflicts the journal, which is bounded, no longer has: the oldest ones.
  package func droppedConflicts() throws(KeepsakeError) -> Int64 {
    try core.access { connection in
      try connection.first("SELECT min(id) - 1 FROM conflict") { $0.integer(0) } ?? 0
    }
  }

  /// Writes what was lost back, as a new write of this device: it wins everywhere. The journal
  /// stays as it is.
  package func restore(_ conflict: Conflict) throws(KeepsakeError) {
    try write([LocalWrite(store: conflict.store, key: conflict.key, value: conflict.lost)])
  }
}

extension Connection {
  /// The journal from after `id` on, oldest first.
  ///
  /// - Parameter bytes: of values, after which no other conflict is read.
  func conflicts(
    after id: Int64, store: String? = nil, limit: Int = .max, bytes: Int = .max
  ) throws -> [Conflict] {
    var (conflicts, size): ([Conflict], Int) = ([], 0)
    try run(
      """
      SELECT id, store, key, loser_tag, loser_value, loser_hlc, loser_origin, winner_tag,
        winner_hlc, winner_origin, at
      FROM conflict WHERE id > ?1 AND (?2 IS NULL OR store = ?2) ORDER BY id LIMIT ?3
      """, [.integer(id), store.map(Cell.text) ?? .null, .integer(Int64(limit))]
    ) { row in
      let lost = row.content(3)
      conflicts.append(
        Conflict(
          id: row.integer(0), store: row.text(1), key: row.text(2), lost: lost.value,
          lostStamp: HybridTimestamp(rawValue: row.integer(5)),
          lostOrigin: ReplicaID(rawValue: row.integer(6)),
          winnerIsDeletion: row.integer(7) == TaggedCell.tombstone.tag,
          winnerStamp: HybridTimestamp(rawValue: row.integer(8)),
          winnerOrigin: ReplicaID(rawValue: row.integer(9)), foundAt: row.integer(10)))
      size += lost.cell.byteCount
      return size < bytes
    }
    return conflicts
  }

  func lastConflict() throws -> Int64 {
    try first("SELECT ifnull(max(id), 0) FROM conflict") { $0.integer(0) } ?? 0
  }
}
