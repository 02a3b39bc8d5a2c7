// SPDX-License-Identifier: Apache-2.0
//
// Who had seen what, and so which lost writes are conflicts.
//
// A write that lost is journalled iff the side that holds the winner had not seen it: then nobody
// decided against it, the clocks did. "Seen" is a version vector per store: `seen`, and for the
// device itself everything under its own identities. Two writes of the same content are no
// conflict.

import KeepsakeDevice
import KeepsakeValues

enum Knowledge {
  /// Rows that the journal keeps; the oldest go first.
  static let capacity: Int64 = 10_000
  /// Bytes of lost values that the journal keeps, or else one conflict: 64 MiB.
  static let capacityBytes: Int64 = 1 << 26

  private static let tables = ["sender_knows", "receiver_knows"]

  /// Makes the tables that `load` fills.
  static func prepare(_ connection: Connection) throws {
    for table in tables {
      try connection.run(
        """
        CREATE TEMP TABLE IF NOT EXISTS \(table) (
          store TEXT NOT NULL, origin INTEGER NOT NULL, hlc INTEGER NOT NULL,
          PRIMARY KEY (store, origin)) STRICT, WITHOUT ROWID
        """)
    }
  }

  /// Reads both version vectors as they are before the meeting.
  static func load(_ connection: Connection) throws {
    for (table, schema) in zip(tables, ["sender", "main"]) {
      try connection.run("DELETE FROM \(table)")
      try connection.run(
        """
        INSERT INTO \(table) SELECT store, origin, max(hlc) FROM (
          SELECT store, origin, hlc FROM \(schema).seen WHERE store IN (SELECT store FROM wanted)
          UNION ALL
          SELECT w.store, s.id, s.hlc FROM \(schema).superseded AS s, wanted AS w
          UNION ALL
          SELECT w.store, r.id, max(r.hlc, ifnull(
            (SELECT hlc FROM \(schema).entry ORDER BY lseq DESC LIMIT 1), 0))
          FROM \(schema).replica AS r, wanted AS w)
        GROUP BY store, origin
        """)
    }
  }

  /// Writes the losers among `incoming` and what it meets into the journal.
  ///
  /// - Returns: how many there were; the journal keeps the last of them.
  static func journal(_ connection: Connection, at now: Int64) throws -> Int {
    try connection.run(
      """
      INSERT INTO conflict (store, key, loser_tag, loser_value, loser_hlc, loser_origin,
        winner_tag, winner_hlc, winner_origin, at)
      SELECT store, key, loser_tag, CASE WHEN came THEN value ELSE (
          SELECT e.value FROM main.entry AS e WHERE e.store = l.store AND e.key = l.key) END,
        loser_hlc, loser_origin, winner_tag, winner_hlc, winner_origin, ?1
      FROM (
        SELECT i.seq, i.store, i.key, i.value, NOT \(Door.wins) AS came,
          iif(\(Door.wins), i.old_tag, i.tag) AS loser_tag,
          iif(\(Door.wins), i.old_hlc, i.hlc) AS loser_hlc,
          iif(\(Door.wins), i.old_origin, i.origin) AS loser_origin,
          iif(\(Door.wins), i.tag, i.old_tag) AS winner_tag,
          iif(\(Door.wins), i.hlc, i.old_hlc) AS winner_hlc,
          iif(\(Door.wins), i.origin, i.old_origin) AS winner_origin
        \(losers) ORDER BY i.seq DESC LIMIT ?2) AS l
      ORDER BY seq
      """, [.integer(now), .integer(capacity)])
    let written = connection.changes
    guard written > 0 else { return 0 }
    var count = Int64(written)
    if count == capacity {
      count = try connection.first("SELECT count(*) \(losers)") { $0.integer(0) } ?? count
      try skip(connection, count - capacity)
    }
    try trim(connection)
    return Int(count)
  }

  /// Gives the newest `capacity` conflicts later numbers, so that those tell how many had no room.
  private static func skip(_ connection: Connection, _ count: Int64) throws {
    guard count > 0 else { return }
    // By way of negative numbers, because a later one may be taken.
    try connection.run(
      "UPDATE conflict SET id = -id WHERE id > (SELECT max(id) FROM conflict) - ?1",
      [.integer(capacity)])
    try connection.run("UPDATE conflict SET id = ?1 - id WHERE id < 0", [.integer(count)])
  }

  /// Drops the oldest conflicts beyond `capacity` and `capacityBytes`.
  static func trim(_ connection: Connection) throws {
    var (first, count, bytes): (Int64?, Int64, Int64) = (nil, 0, 0)
    try connection.run(
      "SELECT id, length(CAST(loser_value AS BLOB)) FROM conflict ORDER BY id DESC"
    ) { row in
      count += 1
      bytes += row.integer(1)
      guard count <= 1 || (count <= capacity && bytes <= capacityBytes) else { return false }
      first = row.integer(0)
      return true
    }
    try connection.run(
      "DELETE FROM conflict WHERE id < ?1", [first.map { .integer($0) } ?? .null])
  }

  /// Rows `i` of `incoming` of which one side was written without knowledge of the other.
  private static let losers = """
    FROM incoming AS i
    LEFT JOIN sender_knows AS s ON s.store = i.store AND s.origin = i.old_origin
    LEFT JOIN receiver_knows AS r ON r.store = i.store AND r.origin = i.origin
    WHERE i.rank <> 0 AND CASE WHEN \(Door.wins) THEN i.old_hlc > ifnull(s.hlc, 0)
      ELSE i.hlc > ifnull(r.hlc, 0) END
    """

  /// After a complete pull: the receiver has now seen what the sender had, but for what waits.
  ///
  /// Former identities are left out: another copy of the file may have written under them since.
  ///
  /// - Parameter horizon: nobody can have seen anything later.
  static func advance(_ connection: Connection, upTo horizon: HybridTimestamp) throws {
    try connection.run(
      """
      INSERT INTO main.seen (store, origin, hlc)
      SELECT k.store, k.origin, min(k.hlc, ?1, ifnull((SELECT min(h.hlc) - 1 FROM main.held AS h
        WHERE h.store = k.store AND h.origin = k.origin), k.hlc))
      FROM (
        SELECT store, origin, hlc FROM sender.seen WHERE store IN (SELECT store FROM wanted)
        UNION ALL
        SELECT w.store, r.id, max(r.hlc, ifnull(
          (SELECT hlc FROM sender.entry ORDER BY lseq DESC LIMIT 1), 0))
        FROM sender.replica AS r, wanted AS w
      ) AS k
      WHERE k.origin <> (SELECT id FROM main.replica)
      ON CONFLICT (store, origin) DO UPDATE SET hlc = max(hlc, excluded.hlc)
      """, [.integer(horizon.rawValue)])
  }
}
