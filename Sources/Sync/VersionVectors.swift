// SPDX-License-Identifier: Apache-2.0
//
// Which lost writes are conflicts.
//
// A lost write is logged iff the two writes were concurrent: the side that holds the winner had not
// seen it. "Seen" is a version vector per store: the table `seen`, and for the device itself
// everything under its own replica IDs. Two writes of the same content are no conflict.

import KeepsakeDevice
import KeepsakeValues

enum VersionVectors {
  /// Devices and stores that a file's version vector names at most; one of ours has a few.
  private static let limit: Int64 = 100_000

  /// As many as a device takes down itself: what it has seen goes with each merge, and has to fit
  /// into a request. That it has seen others is forgotten; so a write of theirs may be logged as a
  /// conflict that is none, and none goes unnoticed.
  private static let capacity: Int64 = 20_000

  private static let tables = ["sender_seen", "receiver_seen"]

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
    try connection.run(
      """
      CREATE TEMP TABLE IF NOT EXISTS lost (
        seq INTEGER PRIMARY KEY, store TEXT NOT NULL, key TEXT NOT NULL, hlc INTEGER NOT NULL,
        origin INTEGER NOT NULL, winner_tag INTEGER NOT NULL, winner_hlc INTEGER NOT NULL,
        winner_origin INTEGER NOT NULL) STRICT
      """)
  }

  /// Reads both version vectors as they are before the exchange.
  ///
  /// - Parameter path: the sender's file.
  /// - Throws: when the sender's names more devices than any life brings about.
  static func load(_ connection: Connection, of path: String) throws {
    let count = try connection.first(
      "SELECT count(*) FROM (SELECT 1 FROM sender.seen LIMIT ?1)", [.integer(limit + 1)]
    ) { $0.integer(0) }
    guard let count, count <= limit else {
      throw KeepsakeError(
        .corrupt, path: path, "it claims to have seen writes of too many devices",
        cure: "do not trust this file; restore a backup of it")
    }
    try connection.run("DELETE FROM lost")
    for (table, schema) in zip(tables, ["sender", "main"]) {
      try connection.run("DELETE FROM \(table)")
      try connection.run("INSERT INTO \(table) \(vector(of: schema))")
    }
  }

  /// What a device has seen of the wanted stores, its own writes included.
  private static func vector(of schema: String) -> String {
    """
    SELECT store, origin, max(hlc) FROM (
      SELECT store, origin, hlc FROM \(schema).seen WHERE store IN (SELECT store FROM wanted)
      UNION ALL
      SELECT w.store, s.id, s.hlc FROM \(schema).superseded AS s, wanted AS w
      UNION ALL
      SELECT w.store, r.id, max(r.hlc, ifnull(
        (SELECT hlc FROM \(schema).entry ORDER BY lseq DESC LIMIT 1), 0))
      FROM \(schema).replica AS r, wanted AS w)
    GROUP BY store, origin
    """
  }

  /// The version vector of this device. Needs `Connection.want`.
  static func own(_ connection: Connection) throws -> [HubRequest.Seen] {
    try connection.all(vector(of: "main")) { row in
      HubRequest.Seen(
        ByteText(row.text(0)), ReplicaID(rawValue: row.integer(1)),
        HybridTimestamp(rawValue: row.integer(2)))
    }
  }

  /// Writes the losers among `incoming` and what it meets into the conflict log.
  ///
  /// What is overwritten here is logged at once: it cannot be met again. What came in and lost is
  /// met again when the pull is cut off, so unless that is `final` it waits for `logLost`.
  ///
  /// - Parameter final: whether the cursor passes these rows in this transaction.
  /// - Returns: how many there were; the log keeps the last of them.
  static func logConflicts(_ connection: Connection, at now: Int64, final: Bool) throws -> Int {
    if !final {
      try connection.run(
        """
        INSERT INTO lost (store, key, hlc, origin, winner_tag, winner_hlc, winner_origin)
        SELECT i.store, i.key, i.hlc, i.origin, i.old_tag, i.old_hlc, i.old_origin
        \(losers) AND NOT \(Incoming.wins) ORDER BY i.seq
        """)
      // The log has no room for more; the numbers tell how many there were before.
      try connection.run(
        "DELETE FROM lost WHERE seq <= (SELECT max(seq) FROM lost) - \(ConflictLog.capacity)")
    }
    return try connection.conflictLog.append(
      """
      i.store, i.key, iif(\(Incoming.wins), i.old_tag, i.tag),
        CASE WHEN \(Incoming.wins) THEN (
          SELECT e.value FROM main.entry AS e WHERE e.store = i.store AND e.key = i.key)
        ELSE i.value END,
        iif(\(Incoming.wins), i.old_hlc, i.hlc), iif(\(Incoming.wins), i.old_origin, i.origin),
        iif(\(Incoming.wins), i.tag, i.old_tag), iif(\(Incoming.wins), i.hlc, i.old_hlc),
        iif(\(Incoming.wins), i.origin, i.old_origin)
      """, of: final ? losers : "\(losers) AND \(Incoming.wins)", at: now)
  }

  /// Logs what is going to lose to rows of a hub that have to wait here: of a hub nobody else has
  /// noticed that. Those that wait already have been judged.
  ///
  /// - Returns: as `logConflicts`.
  static func logWaiting(
    _ connection: Connection, beyond horizon: HybridTimestamp, at now: Int64
  ) throws -> Int {
    try connection.conflictLog.append(
      """
      i.store, i.key, i.old_tag, (
        SELECT e.value FROM main.entry AS e WHERE e.store = i.store AND e.key = i.key),
        i.old_hlc, i.old_origin, i.tag, i.hlc, i.origin
      """,
      of: """
        \(losers) AND i.hlc > \(horizon.rawValue) AND \(Incoming.wins) AND NOT EXISTS (
          SELECT 1 FROM main.held AS h WHERE h.store = i.store AND h.key = i.key
            AND h.hlc = i.hlc AND h.origin = i.origin)
        """, at: now)
  }

  /// Logs what `logConflicts` has put off, in the transaction in which it counts as seen. What the
  /// sender has replaced meanwhile was decided against there; of what the log has no room for all
  /// counts.
  ///
  /// - Returns: as `logConflicts`.
  static func logLost(_ connection: Connection, at now: Int64) throws -> Int {
    let same = "store = i.store AND e.key = i.key AND e.hlc = i.hlc AND e.origin = i.origin"
    let omitted = try connection.first("SELECT min(seq) - 1 FROM lost") { Int($0.integer(0)) } ?? 0
    let count = try connection.conflictLog.append(
      """
      i.store, i.key, ifnull(e.tag, 0), e.value, i.hlc, i.origin, i.winner_tag, i.winner_hlc,
        i.winner_origin
      """,
      of: """
        FROM lost AS i LEFT JOIN sender.entry AS e ON e.\(same)
        WHERE e.key IS NOT NULL OR EXISTS (SELECT 1 FROM sender.grave AS e WHERE e.\(same))
        """, after: omitted, at: now)
    try connection.run("DELETE FROM lost")
    return count
  }

  /// Rows `i` of `incoming` of which one side was written without knowledge of the other.
  private static let losers = """
    FROM incoming AS i
    LEFT JOIN sender_seen AS s ON s.store = i.store AND s.origin = i.old_origin
    LEFT JOIN receiver_seen AS r ON r.store = i.store AND r.origin = i.origin
    WHERE i.rank <> 0 AND CASE WHEN \(Incoming.wins) THEN i.rank = 2 OR i.old_hlc > ifnull(s.hlc, 0)
      ELSE i.rank = 2 OR i.hlc > ifnull(r.hlc, 0) END
    """

  /// Notes that this device has seen what an origin wrote in a store.
  static func note(
    _ connection: Connection, _ origin: ReplicaID, of store: String, upTo timestamp: HybridTimestamp
  ) throws {
    try connection.run(
      """
      INSERT INTO seen (store, origin, hlc) VALUES (?1, ?2, ?3)
      ON CONFLICT (store, origin) DO UPDATE SET hlc = max(hlc, excluded.hlc)
      """, [.text(store), .integer(origin.rawValue), .integer(timestamp.rawValue)])
  }

  /// Forgets that timestamps were seen that are revoked now.
  static func cut(
    _ connection: Connection, _ origin: ReplicaID, after limit: HybridTimestamp
  ) throws {
    try connection.run(
      "UPDATE seen SET hlc = ?2 WHERE origin = ?1 AND hlc > ?2",
      [.integer(origin.rawValue), .integer(limit.rawValue)])
  }

  /// After a complete pull: the receiver has now seen what the sender had when it was loaded, but
  /// for what is held.
  ///
  /// - Parameter horizon: no device can have seen anything later.
  static func advance(_ connection: Connection, upTo horizon: HybridTimestamp) throws {
    let all = """
      SELECT store, origin FROM main.seen UNION SELECT store, origin FROM sender_seen AS k
      """
    let count = try connection.first("SELECT count(*) FROM (\(all))") { $0.integer(0) } ?? 0
    let isKnown = "(k.store, k.origin) IN (SELECT store, origin FROM main.seen)"
    try connection.run(
      """
      INSERT INTO main.seen (store, origin, hlc)
      SELECT k.store, k.origin, min(k.hlc, ?1, ifnull((SELECT min(h.hlc) - 1 FROM main.held AS h
        WHERE h.store = k.store AND h.origin = k.origin), k.hlc))
      FROM sender_seen AS k
      WHERE k.origin <> (SELECT id FROM main.replica) AND (?2 OR \(isKnown))
      ON CONFLICT (store, origin) DO UPDATE SET hlc = max(hlc, excluded.hlc)
      """, [.integer(horizon.rawValue), .integer(count <= capacity ? 1 : 0)])
  }
}
