// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeValues

/// A write that lost to one made without knowledge of it. Its value is kept, whole.
public struct Conflict: Sendable, Hashable {
  /// Its number in the device's journal.
  public let id: Int64
  public let store: String
  public let key: String
  /// The columns of what was lost, see `lost`.
  package let loser: TaggedCell
  /// What was lost; nil is a deletion. An array or a dictionary is decoded at each access.
  public var lost: StoredValue? { loser.value }
  public let lostStamp: HybridTimestamp
  public let lostOrigin: ReplicaID
  /// Whether what won is a deletion.
  public let winnerIsDeletion: Bool
  public let winnerStamp: HybridTimestamp
  public let winnerOrigin: ReplicaID
  /// When it was found, in milliseconds since 1970.
  public let foundAt: Int64
  /// Whether somebody has decided: the loser was restored, or an application has resolved it.
  public let isResolved: Bool
}

extension Device {
  /// The journal of what lost a meeting on this device, oldest first.
  ///
  /// It is the device's own, and keeps the last 10,000, up to 64 MiB of lost values;
  /// `droppedConflicts` tells how many it no longer has. Of two devices that meet, the one that
  /// reads first has the conflict in its journal: the one whose `merge(with:)` was called.
  ///
  /// - Parameter store: only conflicts of this store; nil for all.
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func conflicts(store: String? = nil) throws(KeepsakeError) -> [Conflict] {
    try core.access { try $0.conflicts(after: 0, store: store) }
  }

  /// The journal of a store from after a conflict on.
  package func conflicts(
    store: String, after id: Int64
  ) throws(KeepsakeError) -> [Conflict] {
    try core.access { try $0.conflicts(after: id, store: store) }
  }

  /// The number of the newest conflict; 0 when there is none. O(1).
  package func lastConflict() throws(KeepsakeError) -> Int64 {
    try core.access { try $0.lastConflict() }
  }

  /// One conflict of the journal; nil when it has none of this number.
  package func conflict(id: Int64) throws(KeepsakeError) -> Conflict? {
    try core.access { try $0.conflicts(after: id &- 1, limit: 1).first { $0.id == id } }
  }

  /// How many conflicts the journal, which is bounded, no longer has: the oldest ones.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public func droppedConflicts() throws(KeepsakeError) -> Int64 {
    try core.access { connection in
      try connection.first("SELECT min(id) - 1 FROM conflict") { $0.integer(0) } ?? 0
    }
  }

  /// Writes what was lost back, as a new write of this device: it wins everywhere. The journal
  /// keeps the conflict, as resolved.
  ///
  /// - Throws: `KeepsakeError`; then nothing was written.
  public func restore(_ conflict: Conflict) throws(KeepsakeError) {
    try core.write { connection in
      try write([LocalWrite(store: conflict.store, key: conflict.key, content: conflict.loser)])
      try connection.markResolved(conflict)
      return ((), [])
    }
  }

  /// Calls `resolve` for each conflict of a store that nobody has resolved yet, the oldest first,
  /// each in a transaction of its own, which also notes that it is resolved. So of several
  /// processes one does it, once, and a crash leaves it to do.
  ///
  /// - Parameter resolve: reads and writes the store as ever, or leaves the winner as it is.
  /// - Returns: how many were resolved.
  /// - Throws: what `resolve` throws, or `KeepsakeError`; that conflict stays open, with those
  ///   after it.
  package func resolveConflicts(
    store: String, _ resolve: (Conflict) throws -> Void
  ) throws -> Int {
    var count = 0
    for id in try core.access({ try $0.openConflicts(store: store) }) {
      let isMine = try transaction {
        guard let conflict = try conflict(id: id),
          try core.access({ try $0.markResolved(conflict) })
        else { return false }
        try resolve(conflict)
        return true
      }
      if isMine { count += 1 }
    }
    return count
  }
}

extension Connection {
  /// The journal from after `id` on, oldest first.
  func conflicts(after id: Int64, store: String? = nil, limit: Int = .max) throws -> [Conflict] {
    var bytes = Int.max
    return try conflicts(after: id, store: store, limit: limit, within: &bytes)
  }

  /// The same, until their values have used up so many bytes.
  func conflicts(
    after id: Int64, store: String? = nil, limit: Int, within bytes: inout Int
  ) throws -> [Conflict] {
    var conflicts: [Conflict] = []
    guard bytes > 0 else { return conflicts }
    // A file of version 1 that can only be read does not know who has decided.
    let resolved = try hasTable("void") ? "resolved" : "0"
    try run(
      """
      SELECT id, store, key, loser_tag, loser_value, loser_hlc, loser_origin, winner_tag,
        winner_hlc, winner_origin, at, \(resolved)
      FROM conflict WHERE id > ?1 AND (?2 IS NULL OR store = ?2) ORDER BY id LIMIT ?3
      """, [.integer(id), store.map(Cell.text) ?? .null, .integer(Int64(limit))]
    ) { row in
      let lost = row.content(3)
      conflicts.append(
        Conflict(
          id: row.integer(0), store: row.text(1), key: row.text(2), loser: lost,
          lostStamp: HybridTimestamp(rawValue: row.integer(5)),
          lostOrigin: ReplicaID(rawValue: row.integer(6)),
          winnerIsDeletion: row.integer(7) == TaggedCell.tombstone.tag,
          winnerStamp: HybridTimestamp(rawValue: row.integer(8)),
          winnerOrigin: ReplicaID(rawValue: row.integer(9)), foundAt: row.integer(10),
          isResolved: Resolution.isResolved(row.integer(11))))
      bytes -= lost.cell.byteCount
      return bytes > 0
    }
    return conflicts
  }

  /// The numbers of those that nobody has decided yet, the oldest first.
  fileprivate func openConflicts(store: String) throws -> [Int64] {
    try all(
      "SELECT id FROM conflict WHERE resolved = 0 AND store = ?1 ORDER BY id", [.text(store)]
    ) { $0.integer(0) }
  }

  func lastConflict() throws -> Int64 {
    try first("SELECT ifnull(max(id), 0) FROM conflict") { $0.integer(0) } ?? 0
  }

  /// - Returns: whether it was open until now, and still is in the journal.
  @discardableResult
  fileprivate func markResolved(_ conflict: Conflict) throws -> Bool {
    try run(
      "UPDATE conflict SET resolved = 1 WHERE id = ?1 AND resolved = 0", [.integer(conflict.id)])
    return changes > 0
  }
}
