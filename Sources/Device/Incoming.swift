// SPDX-License-Identifier: Apache-2.0
//
// Entries that are about to be applied, in the temporary table `incoming`: a merge and the release
// of held entries fill it, look at what it would change, and apply it, inside one transaction.

package import KeepsakeValues

package enum Incoming {
  /// `seq` orders what came in; local sequence numbers follow it. The columns `old_…` are of the
  /// local entry, or of the tombstone that was collected; all NULL when there is neither. `rank`
  /// says how `(tag, value)` compares with the local one: 1 larger, 0 the same, -1 smaller; local
  /// values may be large, and stay in `entry`. In place of these, 2 says that the side with the
  /// winner has not seen the loser, whatever its version vector claims; never of equal content.
  static let table = """
    CREATE TEMP TABLE IF NOT EXISTS incoming (
      seq INTEGER PRIMARY KEY, store TEXT NOT NULL, key TEXT NOT NULL, tag INTEGER NOT NULL,
      value ANY, hlc INTEGER NOT NULL, origin INTEGER NOT NULL,
      old_tag INTEGER, old_hlc INTEGER, old_origin INTEGER, rank INTEGER NOT NULL
    ) STRICT
    """

  /// True for the rows `i` of `incoming` that beat the local entry.
  package static let wins = """
    (i.old_hlc IS NULL OR (i.hlc, i.origin, i.rank) > (i.old_hlc, i.old_origin, 0))
    """

  /// Puts entries of another table into `incoming`, each with the local one that it replaces.
  ///
  /// - Parameter source: the FROM clause of a SELECT, and what follows it; `e` has the entry's
  ///   columns, and comes in the order in which it is to be applied.
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

  /// What applying `incoming` would change: visible differences only, so a tombstone for an absent
  /// key and a newer timestamp on an equal value are left out.
  package static func changes(
    _ connection: Connection, reason: SettingChange.Reason
  ) throws -> [SettingChange] {
    var changes: [SettingChange] = []
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
    _ connection: Connection, reason: SettingChange.Reason, _ body: (SettingChange, Int) -> Bool
  ) throws {
    try connection.run(
      """
      SELECT i.store, i.key, old.tag, old.value, i.tag, i.value, i.hlc, i.origin
      FROM incoming AS i LEFT JOIN main.entry AS old ON old.store = i.store AND old.key = i.key
      WHERE \(wins) AND (i.rank <> 0 OR (i.old_hlc IS NULL AND i.tag <> 0)) ORDER BY i.seq
      """
    ) { row in
      let (old, new) = (row.content(2), row.content(4))
      let change = SettingChange(
        store: row.text(0), key: row.text(1), from: old, to: new,
        writer: ReplicaID(rawValue: row.integer(7)),
        timestamp: HybridTimestamp(rawValue: row.integer(6)), reason: reason)
      return body(change, old.cell.byteCount + new.cell.byteCount)
    }
  }
}

extension Row {
  /// The columns `tag` and `value` from `column` on; a missing row of an outer join is a tombstone.
  package func content(_ column: Int32) -> TaggedCell {
    TaggedCell(tag: integer(column), cell: cell(column + 1))
  }
}
