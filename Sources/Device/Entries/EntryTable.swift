// SPDX-License-Identifier: Apache-2.0
//
// Every statement that writes `entry`, except those of `DirectPull` in Sync.
//
// Invariants
// - A write replaces an entry only if it beats it, see `Entry.beats`: a set takes a later
//   timestamp, and a merge compares. Only a rotation and a repair of the clock rewrite entries
//   otherwise.
// - Every row that is written takes a sequence number above all that this file has given.
// - A tombstone is the only entry without a value. A store that is not synced keeps none.

package import KeepsakeValues

/// The table `entry` of one file, within an access.
package struct EntryTable {
  fileprivate let connection: Connection

  package static let columns =
    "(store, key, type, value, timestamp, replica_id, sequence_number)"
  private static let insertOne = FrequentStatement(
    """
    INSERT INTO entry \(columns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (store, key) DO NOTHING
    """)
  private static let putOne = FrequentStatement(
    """
    INSERT INTO entry \(columns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (store, key) DO UPDATE SET
      type = excluded.type, value = excluded.value, timestamp = excluded.timestamp,
      replica_id = excluded.replica_id, sequence_number = excluded.sequence_number
    """)
  private static let renumberOne = FrequentStatement(
    "UPDATE entry SET sequence_number = ?3 WHERE store = ?1 AND key = ?2")

  /// Writes one entry, if its key has none.
  ///
  /// - Parameter number: its sequence number.
  /// - Returns: whether it was written.
  func insert(_ entry: Entry, as number: Int64) throws -> Bool {
    try connection.run(Self.insertOne) { try $0.bind(entry, as: number) }
    return connection.changes == 1
  }

  /// Writes one entry, which wins over the one that is there.
  ///
  /// - Parameter number: its sequence number.
  func put(_ entry: Entry, as number: Int64) throws {
    try connection.run(Self.putOne) { try $0.bind(entry, as: number) }
  }

  /// Gives an entry a new sequence number, so that it is sent again.
  func renumber(_ address: Address, as number: Int64) throws {
    try connection.run(Self.renumberOne) {
      try $0.bind(address)
      try $0.bind(number, at: 3)
    }
  }

  /// Removes an entry without a trace.
  func delete(_ address: Address) throws {
    try connection.run(
      "DELETE FROM entry WHERE store = ?1 AND key = ?2",
      [.text(address.store.string), .text(address.key.string)])
  }

  /// Removes the tombstones that were written before a time.
  ///
  /// - Returns: how many.
  func removeTombstones(before limit: HybridTimestamp) throws -> Int {
    try connection.run(
      "DELETE FROM entry WHERE type = 0 AND timestamp < ?1", [.integer(limit.rawValue)])
    return connection.changes
  }

  /// Removes all entries of synced stores without a trace.
  package func emptySyncedStores() throws {
    try connection.run("DELETE FROM entry WHERE \(Connection.isSynced("store"))")
  }

  /// Makes entries writes of another replica ID; each takes the next sequence number, which
  /// `replica` then counts.
  ///
  /// - Parameters:
  ///   - condition: which entries `e`; its arguments begin at `?4`.
  ///   - order: in which they are written.
  ///   - timestamp: the one before the first of their new timestamps; nil leaves them as they are.
  /// - Returns: how many.
  package func rewrite(
    where condition: String, _ arguments: [Cell], by order: String, as id: ReplicaID,
    after timestamp: HybridTimestamp? = nil, _ replica: inout ReplicaState
  ) throws -> Int {
    try connection.run(
      """
      WITH rewritten AS (
        SELECT store, key, row_number() OVER (ORDER BY \(order)) AS n FROM main.entry AS e
        WHERE \(condition))
      UPDATE main.entry SET replica_id = ?1, sequence_number = ?2 + rewritten.n,
        timestamp = ifnull(?3 + rewritten.n, timestamp)
      FROM rewritten WHERE entry.store = rewritten.store AND entry.key = rewritten.key
      """,
      [
        .integer(id.rawValue), .integer(replica.sequenceNumber),
        timestamp.map { .integer($0.rawValue) } ?? .null,
      ] + arguments)
    let count = connection.changes
    replica.sequenceNumber += Int64(count)
    return count
  }
}

extension Bindings {
  /// The columns in their order.
  fileprivate func bind(_ entry: Entry, as number: Int64) throws {
    try bind(entry.address)
    try bind(entry.content.tag, at: 3)
    try bind(entry.content.cell, at: 4)
    try bind(entry.timestamp.rawValue, at: 5)
    try bind(entry.replicaID.rawValue, at: 6)
    try bind(number, at: 7)
  }

  /// The store as the first argument, and the key as the second.
  func bind(_ address: Address) throws {
    try bind(address.store.string, at: 1)
    try bind(address.key.string, at: 2)
  }
}

extension Connection {
  package var entries: EntryTable { EntryTable(connection: self) }

  /// SQL that is true for an entry `e` unless no device writes such a one.
  package static let isSound = """
    (e.key <> '' AND (e.type = 0) = (e.value IS NULL) AND e.timestamp >= 0
      AND e.replica_id > 0 AND e.sequence_number > 0)
    """
}
