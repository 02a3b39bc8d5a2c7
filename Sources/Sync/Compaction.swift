// SPDX-License-Identifier: Apache-2.0
//
// A tombstone goes when it is old and every peer has it. What is left of it is a grave (`Graves`),
// which decides as the tombstone did; so a collection deletes nothing, whatever was restored,
// copied or forgotten elsewhere.

public import KeepsakeDevice
public import KeepsakeValues

extension Device {
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
    /// The same afterwards.
    public internal(set) var sizeAfter: Int64 = 0

    /// How long a tombstone is kept by default: 90 days.
    public static let defaultAge: Duration = .seconds(90 * 86_400)
    /// After how long an unmet peer retires: 180 days.
    public static let retirementAge: Duration = .seconds(180 * 86_400)
  }

  /// Collects the tombstones that every peer has acknowledged, and gives unused pages back. Peers
  /// that were not met for `retirementAge` are no longer waited for; should one come back, it
  /// gets every deletion that a grave is left of: the newest million, of the last ten years.
  ///
  /// O(n log n) of the entries, and needs as much free space as the file has.
  ///
  /// - Parameter age: how long a tombstone is kept at least.
  /// - Throws: `KeepsakeError`, also when the file is damaged; then it is as it was.
  @discardableResult
  public func compact(
    keeping age: Duration = Compaction.defaultAge
  ) throws(KeepsakeError) -> Compaction {
    try leased { () throws(KeepsakeError) in try compactLeased(keeping: age.milliseconds) }
  }

  private func compactLeased(keeping age: Int64) throws(KeepsakeError) -> Compaction {
    let now = clock.milliseconds
    // VACUUM copies what it can still read over the rest.
    try checkIntegrity()
    let size = try core.storage.databaseSize()
    // First: what fails for want of space must fail before anything is forgotten.
    try core.storage.vacuum()
    var result = try core.write { connection in
      var result = Compaction()
      result.retired = try Compaction.retire(
        connection, unmetSince: now - Compaction.retirementAge.milliseconds, at: now)
      result.collected = try Compaction.collect(connection, before: now - age)
      result.waiting =
        Int(try connection.first("SELECT count(*) FROM entry WHERE tag = 0") { $0.integer(0) } ?? 0)
      return (result, [])
    }
    if result.collected > 0 {
      // Should it fail now, their space is given back the next time.
      Result { () throws(KeepsakeError) in try core.storage.vacuum() }.discardFailure()
    }
    result.sizeBefore = size
    result.sizeAfter = try core.storage.databaseSize()
    return result
  }
}

extension Device.Compaction {
  fileprivate static func retire(
    _ connection: Connection, unmetSince time: Int64, at now: Int64
  ) throws -> [ReplicaID] {
    // An exchange that a wrong clock has dated was at the latest now.
    try connection.peers.correctDates(at: now)
    let peers = try connection.all(
      """
      SELECT peer FROM peer WHERE retired = 0 GROUP BY peer HAVING max(last_met) < ?1
      """, [.integer(time)]
    ) { ReplicaID(rawValue: $0.integer(0)) }
    for peer in peers { try connection.peers.retire(peer) }
    return peers
  }

  /// - Returns: how many tombstones are graves now.
  package static func collect(_ connection: Connection, before time: Int64) throws -> Int {
    var replica = try ReplicaState(connection)
    // What waits for its time on the same key may be older than the tombstone.
    let due = """
      FROM entry AS e WHERE tag = 0 AND hlc < ?1 AND NOT EXISTS (
        SELECT 1 FROM peer AS p
        WHERE p.store = e.store AND p.retired = 0 AND p.acked < e.lseq)
      AND NOT EXISTS (SELECT 1 FROM held AS h WHERE h.store = e.store AND h.key = e.key)
      """
    let before = Cell.integer(HybridTimestamp(milliseconds: time).rawValue)
    try Graves.dig(connection, for: due, [before])
    let count = try connection.entries.collect(due, [before])
    if count > 0 {
      // Readers see that there are new graves; and the newest entry may have gone, and with it what
      // it said of the counters.
      replica.lseq += 1
      try ReplicaState.noteCollection(connection, replica.lseq)
    }
    try replica.save(connection)
    try Graves.forget(connection, now: min(time, replica.last.milliseconds))
    return count
  }
}
