// SPDX-License-Identifier: Apache-2.0
//
// Every statement about `conflict`, the log of what lost merges on this device. It is bounded: its
// numbers, which only grow, tell how many of the oldest it no longer has.

import KeepsakeStorage
import KeepsakeValues

/// The conflict log of one file, within an access.
package struct ConflictLog {
  /// Rows that it keeps; the oldest go first.
  static let capacity = 10_000
  /// Bytes of lost values that it keeps, or else one conflict: 64 MiB.
  private static let capacityBytes: Int64 = 1 << 26

  let connection: Connection

  // MARK: - Adding

  private static let columns = """
    store, key, lost_type, lost_value, lost_timestamp, lost_replica_id, winner_type,
    winner_timestamp, winner_replica_id, found_at
    """

  // Not INSERT OR IGNORE, which uses up a number for a row that it leaves out.
  private static let insertion = FrequentStatement(
    """
    INSERT INTO conflict (\(columns)) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
    WHERE NOT EXISTS (SELECT 1 FROM conflict
      WHERE store = ?1 AND key = ?2 AND lost_timestamp = ?5 AND lost_replica_id = ?6)
    """)

  /// Adds a write that lost unseen.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: false if it is in the log already.
  func add(_ lost: Entry, lostTo won: Entry, at now: Int64) throws -> Bool {
    try connection.run(Self.insertion) {
      try $0.bind(lost.address)
      try $0.bind(lost.content.tag, at: 3)
      try $0.bind(lost.content.cell, at: 4)
      try $0.bind(lost.timestamp.rawValue, at: 5)
      try $0.bind(lost.replicaID.rawValue, at: 6)
      try $0.bind(won.content.tag, at: 7)
      try $0.bind(won.timestamp.rawValue, at: 8)
      try $0.bind(won.replicaID.rawValue, at: 9)
      try $0.bind(now, at: 10)
    }
    return connection.changes > 0
  }

  /// Uses up numbers, for conflicts that it would drop at once.
  func skip(_ count: Int) throws {
    let name = "name = 'conflict'"
    try connection.run(
      """
      INSERT INTO sqlite_sequence (name, seq) SELECT 'conflict', 0
      WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE \(name))
      """)
    try connection.run(
      "UPDATE sqlite_sequence SET seq = seq + ?1 WHERE \(name)", [.integer(Int64(count))])
  }

  /// Drops the oldest conflicts beyond `capacity` and `capacityBytes`.
  ///
  /// - Returns: how many.
  func trim() throws -> Int {
    var (first, count, bytes): (Int64?, Int, Int64) = (nil, 0, 0)
    try connection.run(
      "SELECT id, length(CAST(lost_value AS BLOB)) FROM conflict ORDER BY id DESC"
    ) { row in
      count += 1
      bytes += row.integer(1)
      guard count <= 1 || (count <= Self.capacity && bytes <= Self.capacityBytes) else {
        return false
      }
      first = row.integer(0)
      return true
    }
    try connection.run(
      "DELETE FROM conflict WHERE id < ?1", [first.map { .integer($0) } ?? .null])
    return connection.changes
  }

  /// Deletes all conflicts, and resets their numbers.
  package func clear() throws {
    try connection.run("DELETE FROM conflict")
    try connection.run("DELETE FROM sqlite_sequence WHERE name = 'conflict'")
  }

  // MARK: - Reading

  /// The conflicts after a number, oldest first.
  ///
  /// - Parameters:
  ///   - store: only of this store; nil for all.
  ///   - bytes: of values that may be read; what is left of it.
  package func conflicts(
    after id: Int64, store: String? = nil, limit: Int = .max, within bytes: inout Int
  ) throws -> [Conflict] {
    var conflicts: [Conflict] = []
    guard bytes > 0 else { return conflicts }
    try connection.run(
      """
      SELECT id, \(Self.columns), is_resolved
      FROM conflict WHERE id > ?1 AND (?2 IS NULL OR store = ?2) ORDER BY id LIMIT ?3
      """, [.integer(id), store.map(Cell.text) ?? .null, .integer(Int64(limit))]
    ) { row in
      let conflict = Conflict(row)
      conflicts.append(conflict)
      bytes -= conflict.loser.cell.byteCount
      return bytes > 0
    }
    return conflicts
  }

  package func conflicts(
    after id: Int64, store: String? = nil, limit: Int = .max
  ) throws -> [Conflict] {
    var bytes = Int.max
    return try conflicts(after: id, store: store, limit: limit, within: &bytes)
  }

  /// The number of the newest conflict; 0 when there is none.
  package func last() throws -> Int64 {
    try connection.first("SELECT ifnull(max(id), 0) FROM conflict") { $0.integer(0) } ?? 0
  }

  /// How many of the oldest it no longer has.
  package func dropped() throws -> Int64 {
    try connection.first("SELECT min(id) - 1 FROM conflict") { $0.integer(0) } ?? 0
  }

  // MARK: - Resolving

  /// The numbers of a store's open conflicts, the oldest first.
  package func open(store: String) throws -> [Int64] {
    try connection.all(
      "SELECT id FROM conflict WHERE is_resolved = 0 AND store = ?1 ORDER BY id", [.text(store)]
    ) { $0.integer(0) }
  }

  /// - Returns: whether it was open until now, and is still in the log.
  package func markResolved(_ id: Int64) throws -> Bool {
    try connection.run(
      "UPDATE conflict SET is_resolved = 1 WHERE id = ?1 AND is_resolved = 0", [.integer(id)])
    return connection.changes > 0
  }
}
