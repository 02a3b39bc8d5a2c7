// SPDX-License-Identifier: Apache-2.0
//
// Old tombstones are dropped. The file notes per store how far it has forgotten deletions: a device
// that has not read up to there reads the file in full, and brings back what it still has.

import KeepsakeStorage
package import KeepsakeValues

extension Device {
  /// The result of a compaction.
  public struct Compaction: Sendable, Equatable {
    /// Tombstones that were dropped.
    public internal(set) var dropped = 0
    /// Tombstones that stay, because they are too young.
    public internal(set) var kept = 0
    /// Bytes of the database without its log.
    public internal(set) var sizeBefore: Int64 = 0
    /// The same afterwards.
    public internal(set) var sizeAfter: Int64 = 0

    /// How long a tombstone is kept by default: a year.
    public static let defaultAge: Duration = .seconds(365 * 86_400)
  }

  /// Drops old tombstones, and gives unused pages back.
  ///
  /// A device that was away for longer than `age` may bring deleted values back; the report of that
  /// sync says so (`readInFull`). O(n log n) of the entries, and needs as much free space as the
  /// file has.
  ///
  /// - Parameter age: how long a tombstone is kept.
  /// - Throws: `KeepsakeError`, also if the file is damaged; then it is as it was.
  @discardableResult
  public func compact(
    keeping age: Duration = Compaction.defaultAge
  ) throws(KeepsakeError) -> Compaction {
    try leased { () throws(KeepsakeError) in try compactLeased(keeping: age.milliseconds) }
  }

  private func compactLeased(keeping age: Int64) throws(KeepsakeError) -> Compaction {
    let before = HybridTimestamp(milliseconds: clock.milliseconds - age)
    // VACUUM copies what it can still read over the rest.
    try checkIntegrity()
    var result = Compaction()
    result.sizeBefore = try tables.access { try $0.databaseSize() }
    // First: what fails for want of space must fail before anything is forgotten.
    try core.storage.vacuum()
    (result.dropped, result.kept) = try tables.write { connection in
      let count = try connection.forget(before: before)
      let kept = try connection.first("SELECT count(*) FROM entry WHERE type = 0") {
        Int($0.integer(0))
      }
      return ((count, kept ?? 0), [])
    }
    if result.dropped > 0 {
      // Should it fail now, their space is given back the next time.
      Result { () throws(KeepsakeError) in try core.storage.vacuum() }.discardFailure()
    }
    result.sizeAfter = try tables.access { try $0.databaseSize() }
    return result
  }
}

extension Connection {
  /// The keys of synced stores that were deleted before a time.
  package func deletions(before limit: HybridTimestamp) throws -> [Address] {
    try all(
      """
      SELECT store, key FROM entry WHERE type = 0 AND timestamp < ?1 AND \(Self.isSynced("store"))
      """, [.integer(limit.rawValue)]
    ) { Address(store: $0.text(0), key: $0.text(1)) }
  }

  /// Drops tombstones that were written before a time.
  ///
  /// - Returns: how many.
  @discardableResult
  package func forget(before limit: HybridTimestamp) throws -> Int {
    let replica = try ReplicaState(self)
    try run(
      """
      INSERT INTO forgotten (store, sequence_number)
      SELECT store, max(sequence_number) FROM entry WHERE type = 0 AND timestamp < ?1
      GROUP BY store
      ON CONFLICT (store) DO UPDATE SET
        sequence_number = max(forgotten.sequence_number, excluded.sequence_number)
      """, [.integer(limit.rawValue)])
    let count = try entries.removeTombstones(before: limit)
    // The newest row may be gone, and with it what it said of the counters.
    if count > 0 { try replica.save(self) }
    return count
  }
}
