// SPDX-License-Identifier: Apache-2.0
//
// The one door to the rows of `entry`: a setting admits its entry, a meeting fills the temporary
// table `incoming` and admits that, inside one transaction.
//
// Invariants
// - An entry is replaced only by one that beats it: (hlc, origin, tag, value) is larger.
//   `Entry.beats` says the same in Swift, and a property test holds the two together.
// - Every accepted entry takes an arrival number above all that were ever given in this file.
// - A tombstone is the only entry without a value. In a store that is not synced a local write
//   takes it away again in the same transaction.

package import KeepsakeValues

package enum Door {
  /// `seq` orders what came in; arrival numbers follow it. The columns `old_…` are the entry that
  /// is there, all NULL when there is none.
  static let incomingTable = """
    CREATE TEMP TABLE IF NOT EXISTS incoming (
      seq INTEGER PRIMARY KEY, store TEXT NOT NULL, key TEXT NOT NULL, tag INTEGER NOT NULL,
      value ANY, hlc INTEGER NOT NULL, origin INTEGER NOT NULL,
      old_tag INTEGER, old_value ANY, old_hlc INTEGER, old_origin INTEGER
    ) STRICT
    """

  private static func insert(_ source: String) -> String {
    """
    INSERT INTO entry (store, key, tag, value, hlc, origin, lseq)
    \(source)
    ON CONFLICT (store, key) DO UPDATE SET
      tag = excluded.tag, value = excluded.value, hlc = excluded.hlc, origin = excluded.origin,
      lseq = excluded.lseq
    WHERE (excluded.hlc, excluded.origin, excluded.tag, excluded.value)
        > (entry.hlc, entry.origin, entry.tag, entry.value)
    """
  }

  private static let insertOne = insert("VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")

  private static let insertIncoming = insert(
    "SELECT store, key, tag, value, hlc, origin, ?1 + seq FROM incoming WHERE true ORDER BY seq")

  /// True for the rows of `incoming` that beat what is there.
  package static let wins = """
    (old_hlc IS NULL OR (hlc, origin, tag, value) > (old_hlc, old_origin, old_tag, old_value))
    """

  /// Writes one entry, if it wins.
  ///
  /// - Parameter lseq: its arrival number.
  package static func admit(_ connection: Connection, _ entry: Entry, as lseq: Int64) throws {
    try connection.run(
      insertOne,
      [
        .text(entry.address.store.string), .text(entry.address.key.string),
        .integer(entry.content.tag), entry.content.cell,
        .integer(entry.stamp.rawValue), .integer(entry.origin.rawValue), .integer(lseq),
      ])
  }

  /// Puts entries from another table into `incoming`, beside what is there.
  ///
  /// - Parameter source: a SELECT of store, key, tag, value, hlc, origin, in the order of arrival.
  /// - Returns: how many.
  package static func fill(
    _ connection: Connection, from source: String, _ arguments: [Cell]
  ) throws -> Int {
    try connection.run(
      """
      INSERT INTO incoming (store, key, tag, value, hlc, origin,
        old_tag, old_value, old_hlc, old_origin)
      SELECT s.store, s.key, s.tag, s.value, s.hlc, s.origin, e.tag, e.value, e.hlc, e.origin
      FROM (\(source)) AS s LEFT JOIN main.entry AS e ON e.store = s.store AND e.key = s.key
      """, arguments)
    return connection.changes
  }

  /// What `admit` would change now: visible differences only, so a tombstone for an absent key and
  /// a newer stamp on an equal value are left out.
  ///
  /// - Parameter limit: at most so many.
  package static func changes(
    _ connection: Connection, reason: Change.Reason, limit: Int = .max
  ) throws -> [Change] {
    var changes: [Change] = []
    guard limit > 0 else { return changes }
    try connection.run(
      """
      SELECT store, key, old_tag, old_value, tag, value, hlc, origin FROM incoming
      WHERE \(wins) ORDER BY seq
      """
    ) { row in
      let old = row.content(2)
      let new = row.content(4)
      if old != new, !(old.isTombstone && new.isTombstone) {
        changes.append(
          Change(
            store: row.text(0), key: row.text(1), old: old.value, new: new.value,
            writer: ReplicaID(rawValue: row.integer(7)),
            stamp: HybridTimestamp(rawValue: row.integer(6)), reason: reason))
      }
      return changes.count < limit
    }
    return changes
  }

  /// Writes every row of `incoming` that wins, and empties `incoming`.
  ///
  /// - Parameter base: the last arrival number given in this file.
  /// - Returns: how many rows of `entry` were written.
  package static func admit(_ connection: Connection, after base: Int64) throws -> Int {
    try connection.run(insertIncoming, [.integer(base)])
    let written = connection.changes
    try connection.run("DELETE FROM incoming")
    return written
  }
}

extension Row {
  /// The columns `tag` and `value` from `column` on; a missing row of an outer join is a tombstone.
  package func content(_ column: Int32) -> TaggedCell {
    TaggedCell(tag: integer(column), cell: cell(column + 1))
  }
}
