// SPDX-License-Identifier: Apache-2.0
//
// What is left of collected tombstones: address, timestamp and origin. A grave takes half the space
// of its tombstone, does not travel to whom it does not concern, and counts like the tombstone:
// - An entry that comes in for a key without one has to beat the grave (`Incoming.fill`).
// - A reader that still has what a grave beats gets the very tombstone again (`unread`).
// - A sender that brings what a grave or a tombstone beats, and that had read it once, has to read
//   it again (`reissue`).
//
// So nothing is inferred from clocks or version vectors, and nothing is minted: all devices agree
// on which deletion it was.

import KeepsakeDevice
import KeepsakeValues

enum Graves {
  /// Graves that are kept; the first to have arrived go first.
  static let capacity: Int64 = 1_000_000
  /// Milliseconds that one is kept, before the newest write that is known: ten years.
  static let age: Int64 = 3_653 * 86_400_000

  /// - Parameter due: the FROM clause for tombstones `e`.
  static func dig(_ connection: Connection, for due: String, _ arguments: [Cell]) throws {
    try connection.run(
      """
      INSERT INTO grave (store, key, hlc, origin, lseq) SELECT store, key, hlc, origin, lseq \(due)
      ON CONFLICT (store, key) DO UPDATE SET
        hlc = excluded.hlc, origin = excluded.origin, lseq = excluded.lseq
      WHERE (excluded.hlc, excluded.origin) > (grave.hlc, grave.origin)
      """, arguments)
  }

  /// Drops graves that decide nothing, because a later write is there, and those beyond the bounds.
  ///
  /// - Parameter now: milliseconds since 1970.
  static func forget(_ connection: Connection, now: Int64) throws {
    try connection.run(
      """
      DELETE FROM grave WHERE EXISTS (
        SELECT 1 FROM entry AS e WHERE e.store = grave.store AND e.key = grave.key
          AND (e.hlc, e.origin) > (grave.hlc, grave.origin))
      """)
    let last = try connection.first(
      "SELECT lseq FROM grave ORDER BY lseq DESC LIMIT 1 OFFSET ?1", [.integer(capacity)]
    ) { $0.integer(0) }
    let bounds = [
      Cell.integer(HybridTimestamp(milliseconds: now - age).rawValue), .integer(last ?? -1),
    ]
    let old = "FROM grave WHERE hlc < ?1 OR lseq <= ?2"
    // A device that has not read up to there reads this one in full: the deletions are forgotten.
    try connection.run(
      """
      INSERT INTO forgotten (only, lseq) SELECT 1, m FROM (SELECT max(lseq) AS m \(old))
      WHERE m IS NOT NULL
      ON CONFLICT (only) DO UPDATE SET lseq = max(lseq, excluded.lseq)
      """, bounds)
    try connection.run("DELETE \(old)", bounds)
  }

  /// Dates the graves of revoked timestamps at the last one that stands.
  static func cut(
    _ connection: Connection, _ origin: ReplicaID, after limit: HybridTimestamp
  ) throws {
    try connection.run(
      "UPDATE grave SET hlc = ?2 WHERE origin = ?1 AND hlc > ?2",
      [.integer(origin.rawValue), .integer(limit.rawValue)])
  }

  /// Drops graves from the future.
  static func drop(_ connection: Connection, beyond horizon: HybridTimestamp) throws {
    try connection.run("DELETE FROM grave WHERE hlc > ?1", [.integer(horizon.rawValue)])
  }

  /// The local sequence number of the sender's last collection; 0 when it has no graves.
  static func last(_ connection: Connection) throws -> Int64 {
    try connection.first("SELECT gc_lseq FROM sender.replica") { $0.integer(0) } ?? 0
  }

  /// The sender's graves that the receiver has not read, of keys that it has, as entries `e`: they
  /// beat what it has, or are deletions that have lost.
  static let unread = """
    FROM (
      SELECT g.store AS store, g.key AS key, 0 AS tag, NULL AS value, g.hlc AS hlc,
        g.origin AS origin, g.lseq AS lseq
      FROM wanted AS w CROSS JOIN sender.grave AS g ON g.store = w.store AND g.lseq > w.cursor
      CROSS JOIN main.entry AS m ON m.store = g.store AND m.key = g.key
      WHERE (g.hlc, g.origin) <> (m.hlc, m.origin) AND NOT EXISTS (
        SELECT 1 FROM sender.entry AS s WHERE s.store = g.store AND s.key = g.key)) AS e
    """

  /// Gives what beats entries of the sender, and was read by it before, a new local sequence
  /// number.
  ///
  /// - Parameter base: the last local sequence number given in this file.
  /// - Returns: how many.
  static func reissue(_ connection: Connection, after base: Int64) throws -> Int {
    func unread(_ table: String) -> String {
      """
      FROM incoming AS i CROSS JOIN sender.peer AS p
        ON p.peer = (SELECT id FROM main.replica) AND p.store = i.store
      WHERE \(table).store = i.store AND \(table).key = i.key
        AND i.old_tag = 0 AND (i.hlc, i.origin) < (i.old_hlc, i.old_origin)
        AND \(table).hlc = i.old_hlc AND \(table).origin = i.old_origin
        AND \(table).lseq <= p.cursor
      """
    }
    try connection.run(
      "UPDATE main.grave SET lseq = ?1 + i.seq \(unread("grave"))", [.integer(base)])
    let graves = connection.changes
    if graves > 0 {
      let last = try connection.first("SELECT max(seq) FROM incoming") { $0.integer(0) } ?? 0
      try ReplicaState.noteCollection(connection, base + last)
    }
    // Not for deletions: where only one side knows of a revocation, two tombstones could answer
    // each other for ever. A grave cannot: who has one sends no entry.
    let tombstones = try connection.entries.reissue(
      unread("entry") + " AND entry.tag = 0 AND i.tag <> 0", after: base)
    return graves + tombstones
  }
}
