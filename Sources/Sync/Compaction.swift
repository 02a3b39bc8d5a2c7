// SPDX-License-Identifier: Apache-2.0
//
// Tombstones go when they are old and when every peer has them. What is left of them is the arrival
// number and the stamp up to which they went (`gc_lseq`, `gc_floor`), and `seen`. That is enough
// for a device that comes back after any time:
// - It has not read up to `gc_lseq`, so both read everything of each other.
// - What it still has, and what was seen here and is gone, was deleted: it is answered with a new
//   tombstone, the smallest that beats it, so a later write that nobody here knows of still wins.
// - What it still has, and nobody here had seen, is let in; but where a third device still holds a
//   later tombstone, that one is told again to those who have collected it.
//
// "Seen and gone" is only as sure as identities are. Of two copies of one file that both went on,
// one may have written what the other's name says was seen; so entries under a name that either
// side has given up are let in, and whatever is answered is journalled with its value.

public import KeepsakeDevice
public import KeepsakeValues

/// What a collection did.
public struct Compaction: Sendable, Equatable {
  /// Tombstones that went.
  public internal(set) var collected = 0
  /// Tombstones that stay: too young, or not yet acknowledged by all.
  public internal(set) var waiting = 0
  /// Peers that are no longer waited for from now on.
  public internal(set) var retired: [ReplicaID] = []
  /// Bytes of the database without its log.
  public internal(set) var sizeBefore: Int64 = 0
  public internal(set) var sizeAfter: Int64 = 0

  /// Milliseconds that a tombstone is kept, unless told otherwise.
  public static let defaultAge: Int64 = 90 * 86_400_000
  /// Milliseconds after which an unmet peer retires.
  public static let retirementAge: Int64 = 180 * 86_400_000
}

extension Device {
  /// Collects the tombstones that every peer has acknowledged, and gives unused pages back. Peers
  /// that were not met for `retirementAge` are no longer waited for; should one come back, it is
  /// met in full, and what it still has and others had deleted is deleted there.
  ///
  /// O(n log n) of the entries, and needs as much free space as the file has.
  ///
  /// - Parameter age: milliseconds that a tombstone is kept at least.
  /// - Throws: `KeepsakeError`; then nothing has gone.
  @discardableResult
  public func compact(
    keeping age: Int64 = Compaction.defaultAge
  ) throws(KeepsakeError) -> Compaction {
    let now = clock.milliseconds
    let size = try core.databaseSize()
    // First: what fails for want of space must fail before anything is forgotten.
    try core.vacuum()
    var result = try core.write { connection in
      var result = Compaction()
      result.retired = try Compaction.retire(connection, unmetSince: now - Compaction.retirementAge)
      result.collected = try Compaction.collect(connection, before: now - age)
      result.waiting =
        Int(try connection.first("SELECT count(*) FROM entry WHERE tag = 0") { $0.integer(0) } ?? 0)
      return (result, [])
    }
    if result.collected > 0 {
      // Should it fail now, their space is given back the next time.
      Result { () throws(KeepsakeError) in try core.vacuum() }.discardFailure()
    }
    result.sizeBefore = size
    result.sizeAfter = try core.databaseSize()
    return result
  }
}

extension Compaction {
  fileprivate static func retire(
    _ connection: Connection, unmetSince time: Int64
  ) throws -> [ReplicaID] {
    let peers = try connection.all(
      """
      SELECT peer FROM peer WHERE retired = 0 GROUP BY peer HAVING max(last_met) < ?1
      """, [.integer(time)]
    ) { ReplicaID(rawValue: $0.integer(0)) }
    for peer in peers {
      try connection.run("UPDATE peer SET retired = 1 WHERE peer = ?1", [.integer(peer.rawValue)])
    }
    return peers
  }

  fileprivate static func collect(_ connection: Connection, before time: Int64) throws -> Int {
    let replica = try ReplicaState(connection)
    let due = """
      FROM entry AS e WHERE tag = 0 AND hlc < ?1 AND NOT EXISTS (
        SELECT 1 FROM peer AS p
        WHERE p.store = e.store AND p.retired = 0 AND p.acked < e.lseq)
      """
    let before = Cell.integer(HybridTimestamp(milliseconds: time).rawValue)
    // The newest entry may go, and with it what it says of the counters.
    try replica.save(connection)
    try connection.run(
      """
      UPDATE replica SET gc_floor = max(gc_floor, ifnull((SELECT max(hlc) \(due)), 0)),
        gc_lseq = max(gc_lseq, ifnull((SELECT max(lseq) \(due)), 0))
      """, [before])
    try connection.run(
      """
      DELETE FROM entry WHERE (store, key) IN (SELECT store, key \(due))
      """, [before])
    return connection.changes
  }

  /// Makes tombstones of what came in, was seen, and is gone; drops what came in as one.
  ///
  /// Needs `Knowledge.load`. Runs when `incoming` knows what it meets, before it is judged.
  ///
  /// - Returns: how many were answered.
  static func answer(
    _ connection: Connection, as id: ReplicaID, at now: Int64
  ) throws -> Int {
    let floor = try connection.first("SELECT gc_floor FROM replica") { $0.integer(0) } ?? 0
    guard floor > 0 else { return 0 }
    try connection.run(
      "DELETE FROM incoming AS i WHERE \(isGone) AND tag = 0", [.integer(floor)])
    try connection.run(
      """
      INSERT INTO conflict (store, key, loser_tag, loser_value, loser_hlc, loser_origin,
        winner_tag, winner_hlc, winner_origin, at)
      SELECT store, key, tag, value, hlc, origin, 0, hlc + 1, ?2, ?3 FROM incoming AS i
      WHERE \(isGone) ORDER BY seq
      """, [.integer(floor), .integer(id.rawValue), .integer(now)])
    try connection.run(
      "UPDATE incoming AS i SET tag = 0, value = NULL, hlc = hlc + 1, origin = ?2 WHERE \(isGone)",
      [.integer(floor), .integer(id.rawValue)])
    let answered = connection.changes
    if answered > 0 { try Knowledge.trim(connection) }
    return answered
  }

  /// Gives tombstones that beat what came in a new arrival number where the sender, which had read
  /// them, may have collected them.
  ///
  /// - Parameter base: the last arrival number given in this file.
  /// - Returns: how many.
  static func remind(_ connection: Connection, after base: Int64) throws -> Int {
    let floor = try connection.first("SELECT gc_floor FROM sender.replica") { $0.integer(0) } ?? 0
    guard floor > 0 else { return 0 }
    try connection.run(
      """
      UPDATE main.entry SET lseq = ?1 + i.seq FROM incoming AS i
      WHERE entry.store = i.store AND entry.key = i.key AND i.tag <> 0 AND i.old_tag = 0
        AND i.old_hlc <= ?2 AND (i.hlc, i.origin) < (i.old_hlc, i.old_origin)
      """, [.integer(base), .integer(floor)])
    return connection.changes
  }

  private static let isGone = """
    old_hlc IS NULL AND hlc <= ?1 AND (store = 'cloud' OR substr(store, 1, 6) = 'cloud:')
    AND EXISTS (SELECT 1 FROM receiver_knows AS k
      WHERE k.store = i.store AND k.origin = i.origin AND k.hlc >= i.hlc)
    AND NOT EXISTS (SELECT 1 FROM main.superseded AS s WHERE s.id = i.origin)
    AND NOT EXISTS (SELECT 1 FROM sender.superseded AS s WHERE s.id = i.origin)
    """
}
