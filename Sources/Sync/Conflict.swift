// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
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
  public let winnerStamp: HybridTimestamp
  public let winnerOrigin: ReplicaID
}

extension Connection {
  /// The journal from after `id` on, oldest first.
  func conflicts(after id: Int64, limit: Int) throws -> [Conflict] {
    try all(
      """
      SELECT id, store, key, loser_tag, loser_value, loser_hlc, loser_origin, winner_hlc,
        winner_origin
      FROM conflict WHERE id > ?1 ORDER BY id LIMIT ?2
      """, [.integer(id), .integer(Int64(limit))]
    ) { row in
      Conflict(
        id: row.integer(0), store: row.text(1), key: row.text(2), lost: row.content(3).value,
        lostStamp: HybridTimestamp(rawValue: row.integer(5)),
        lostOrigin: ReplicaID(rawValue: row.integer(6)),
        winnerStamp: HybridTimestamp(rawValue: row.integer(7)),
        winnerOrigin: ReplicaID(rawValue: row.integer(8)))
    }
  }

  func lastConflict() throws -> Int64 {
    try first("SELECT ifnull(max(id), 0) FROM conflict") { $0.integer(0) } ?? 0
  }
}
