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
  /// `seq` orders what came in; arrival numbers follow it. The columns `old_…` are of the entry
  /// that is there, or of the tombstone that was collected there; all NULL when there is none.
  /// `rank` says how `(tag, value)` compares with what is there: 1 larger, 0 the same, -1 smaller;
  /// the values there may be large, and stay there.
  static let incomingTable = """
    CREATE TEMP TABLE IF NOT EXISTS incoming (
      seq INTEGER PRIMARY KEY, store TEXT NOT NULL, key TEXT NOT NULL, tag INTEGER NOT NULL,
      value ANY, hlc INTEGER NOT NULL, origin INTEGER NOT NULL,
      old_tag INTEGER, old_hlc INTEGER, old_origin INTEGER, rank INTEGER NOT NULL
    ) STRICT
    """

  private static func insert(_ source: String) -> String {
    """
    INSERT INTO entry (store, key, tag, value, hlc, origin, lseq)
    \(source)
    ON CONFLICT (store, key) DO UPDATE SET
      tag = excluded.tag, value = excluded.value, hlc = excluded.hlc, origin = excluded.origin,
      lseq = excluded.lseq
    WHERE (excluded.hlc, excluded.origin, excluded.tag, excluded.value, typeof(excluded.value))
        > (entry.hlc, entry.origin, entry.tag, entry.value, typeof(entry.value))
    """
  }

  private static let insertOne = insert("VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")

  private static let insertIncoming = insert(
    """
    SELECT store, key, tag, value, hlc, origin, ?1 + seq FROM incoming AS i WHERE \(wins)
    ORDER BY seq
    """)

  /// True for the rows `i` of `incoming` that beat what is there.
  package static let wins = """
    (i.old_hlc IS NULL OR (i.hlc, i.origin, i.rank) > (i.old_hlc, i.old_origin, 0))
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
  /// - Parameter source: the FROM clause of a SELECT, and what follows it; `e` has the entry's
  ///   columns, and comes in the order of arrival.
  /// - Returns: how many.
  package static func fill(
    _ connection: Connection, from source: String, _ arguments: [Cell]
  ) throws -> Int {
    try connection.run(
      """
      INSERT INTO incoming (store, key, tag, value, hlc, origin, old_tag, old_hlc, old_origin, rank)
      SELECT s.store, s.key, s.tag, s.value, s.hlc, s.origin,
        ifnull(old.tag, iif(g.hlc IS NULL, NULL, 0)), ifnull(old.hlc, g.hlc),
        ifnull(old.origin, g.origin),
        CASE WHEN (s.tag, s.value, typeof(s.value)) > (old.tag, old.value, typeof(old.value)) THEN 1
          WHEN (s.tag, s.value, typeof(s.value)) < (old.tag, old.value, typeof(old.value)) THEN -1
          WHEN g.hlc IS NOT NULL THEN s.tag <> 0 ELSE 0 END
      FROM (SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin \(source)) AS s
      LEFT JOIN main.entry AS old ON old.store = s.store AND old.key = s.key
      LEFT JOIN main.grave AS g ON old.hlc IS NULL AND g.store = s.store AND g.key = s.key
      """, arguments)
    return connection.changes
  }

  /// Writes entries from another table where there are none yet, without looking for any.
  ///
  /// - Parameters:
  ///   - source: as for `fill`, with the arrival numbers that the entries have in their file.
  ///   - base: the last arrival number given in this file; theirs are added to it.
  /// - Returns: how many.
  package static func admit(
    _ connection: Connection, from source: String, _ arguments: [Cell], after base: Int64
  ) throws -> Int {
    try connection.run(
      """
      INSERT INTO main.entry (store, key, tag, value, hlc, origin, lseq)
      SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin,
        ?\(arguments.count + 1) + e.lseq
      \(source)
      """, arguments + [.integer(base)])
    return connection.changes
  }

  /// What `admit` would change now: visible differences only, so a tombstone for an absent key and
  /// a newer stamp on an equal value are left out.
  package static func changes(
    _ connection: Connection, reason: Change.Reason
  ) throws -> [Change] {
    var changes: [Change] = []
    try forEachChange(connection, reason: reason) { change, _ in
      changes.append(change)
      return true
    }
    return changes
  }

  /// As `changes`.
  ///
  /// - Parameter body: called with a change and the bytes of its values, until it returns false.
  package static func forEachChange(
    _ connection: Connection, reason: Change.Reason, _ body: (Change, Int) -> Bool
  ) throws {
    try connection.run(
      """
      SELECT i.store, i.key, old.tag, old.value, i.tag, i.value, i.hlc, i.origin
      FROM incoming AS i LEFT JOIN main.entry AS old ON old.store = i.store AND old.key = i.key
      WHERE \(wins) AND (i.rank <> 0 OR (i.old_hlc IS NULL AND i.tag <> 0)) ORDER BY i.seq
      """
    ) { row in
      let (old, new) = (row.content(2), row.content(4))
      let change = Change(
        store: row.text(0), key: row.text(1), from: old, to: new,
        writer: ReplicaID(rawValue: row.integer(7)),
        stamp: HybridTimestamp(rawValue: row.integer(6)), reason: reason)
      return body(change, old.cell.byteCount + new.cell.byteCount)
    }
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
