// SPDX-License-Identifier: Apache-2.0
//
// Every statement about `conflict`, the log of what lost merges on this device. It is bounded: its
// numbers, which only grow, tell how many of the oldest it no longer has.

import KeepsakeStorage
import KeepsakeValues

/// The conflict log of one file, within an access.
package struct ConflictLog {
  /// Rows that it keeps; the oldest go first.
  package static let capacity: Int64 = 10_000
  /// Bytes of lost values that it keeps, or else one conflict: 64 MiB.
  private static let capacityBytes: Int64 = 1 << 26

  let connection: Connection

  // MARK: - Adding

  private static let columns = """
    store, key, lost_type, lost_value, lost_timestamp, lost_replica_id, winner_type,
    winner_timestamp, winner_replica_id, found_at
    """

  /// A write that lost unseen, and what the log has of the one that won.
  struct Loss {
    let lost: Entry
    let winnerTag: Int64
    let winnerTimestamp: HybridTimestamp
    let winnerID: ReplicaID

    init(lost: Entry, won: Entry) {
      self.lost = lost
      (winnerTag, winnerTimestamp) = (won.content.tag, won.timestamp)
      winnerID = won.replicaID
    }
  }

  private static let isLost =
    "store = ?1 AND key = ?2 AND lost_timestamp = ?5 AND lost_replica_id = ?6"

  // Not INSERT OR IGNORE, which uses up a number for a row that it leaves out.
  private static let insertion = FrequentStatement(
    """
    INSERT INTO conflict (\(columns)) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
    WHERE NOT EXISTS (SELECT 1 FROM conflict WHERE \(isLost))
    """)

  /// Adds losers, and drops the oldest conflicts. A loser that is in the log already is not added
  /// again. Of more than the log keeps, the first ones are only counted.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: how many were added, also if the log has no room for all of them, and how many of
  ///   all were dropped.
  func append(_ losses: [Loss], at now: Int64) throws -> (added: Int, dropped: Int) {
    let kept = losses.suffix(Int(Self.capacity))
    var skipped = losses.count - kept.count
    if skipped > 0, let first = kept.first {
      // Then the page comes again.
      if try contains(first.lost) { skipped = 0 }
      try skip(skipped)
    }
    var added = skipped
    for loss in kept {
      try connection.run(Self.insertion) {
        try $0.bind(loss.lost.address)
        try $0.bind(loss.lost.content.tag, at: 3)
        try $0.bind(loss.lost.content.cell, at: 4)
        try $0.bind(loss.lost.timestamp.rawValue, at: 5)
        try $0.bind(loss.lost.replicaID.rawValue, at: 6)
        try $0.bind(loss.winnerTag, at: 7)
        try $0.bind(loss.winnerTimestamp.rawValue, at: 8)
        try $0.bind(loss.winnerID.rawValue, at: 9)
        try $0.bind(now, at: 10)
      }
      added += connection.changes
    }
    return (added, try trim() + skipped)
  }

  private func contains(_ lost: Entry) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM conflict WHERE \(Self.isLost)",
      [
        .text(lost.address.store.string), .text(lost.address.key.string), .null, .null,
        .integer(lost.timestamp.rawValue), .integer(lost.replicaID.rawValue),
      ]
    ) { _ in true } ?? false
  }

  /// Leaves out numbers: the next conflict tells by its own how many there were before it.
  private func skip(_ count: Int) throws {
    try connection.run(
      """
      INSERT INTO sqlite_sequence (name, seq) SELECT 'conflict', 0
      WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'conflict')
      """)
    try connection.run(
      "UPDATE sqlite_sequence SET seq = seq + ?1 WHERE name = 'conflict'",
      [.integer(Int64(count))])
  }

  /// Drops the oldest conflicts beyond `capacity` and `capacityBytes`.
  ///
  /// - Returns: how many.
  @discardableResult
  package func trim() throws -> Int {
    var (first, count, bytes): (Int64?, Int64, Int64) = (nil, 0, 0)
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

  /// Empties it, as if there had never been a conflict.
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
