// SPDX-License-Identifier: Apache-2.0
//
// Rows of another file that are about to be applied, in temporary tables:
// - `incoming`: a page of rows as they were read, with the other file's sequence numbers.
// - `decision`: what is to be done with them: the rules of `decide`, over a whole page. Rows with
//   which nothing is to be done are not in it. `place` counts the rows that get a new sequence
//   number.
// - `pull_store`, `held_back`, `giver_seen`: what the other file has read, see `Incoming.tables`.

package import KeepsakeValues

package enum Incoming {
  /// The result of a page that was applied.
  package struct Outcome {
    /// Rows that are not from the future.
    package var received = 0
    /// The sequence numbers that applied rows have got.
    package var numbers: [ClosedRange<Int64>] = []
    package var applied = 0
    /// Losers that were added to the log.
    package var conflicts = 0
    /// Whether there were losers, also such that were in the log already.
    package var hasLosers = false
  }

  /// Writes of a replica ID after a time. A file that was set back may have written them beside
  /// those that version vectors cover.
  package struct Doubt {
    let replicaID: ReplicaID
    let timestamp: HybridTimestamp

    package init(replicaID: ReplicaID, after timestamp: HybridTimestamp) {
      (self.replicaID, self.timestamp) = (replicaID, timestamp)
    }
  }

  /// `pull_store` has per store up to which number the other file has read this one. `giver_seen`
  /// is the other file's version vector, with its own writes. `held_back` has numbers of this file
  /// that a hub was not sent, though it was sent later ones.
  private static let tables = [
    """
    CREATE TEMP TABLE IF NOT EXISTS incoming (
      sequence_number INTEGER PRIMARY KEY, store TEXT NOT NULL, key TEXT NOT NULL,
      type INTEGER NOT NULL, value ANY, timestamp INTEGER NOT NULL, replica_id INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TEMP TABLE IF NOT EXISTS decision (
      number INTEGER PRIMARY KEY, applies INTEGER NOT NULL, resends INTEGER NOT NULL,
      logs INTEGER NOT NULL, is_change INTEGER NOT NULL, place INTEGER NOT NULL) STRICT
    """,
    """
    CREATE TEMP TABLE IF NOT EXISTS pull_store (
      store TEXT PRIMARY KEY, sent INTEGER NOT NULL) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TEMP TABLE IF NOT EXISTS held_back (number INTEGER PRIMARY KEY) STRICT
    """,
    """
    CREATE TEMP TABLE IF NOT EXISTS giver_seen (
      store TEXT NOT NULL, replica_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
      PRIMARY KEY (store, replica_id)) STRICT, WITHOUT ROWID
    """,
  ]

  /// Makes the temporary tables, and empties them. Outside of a write, whose failure would take
  /// them back.
  package static func prepare(_ connection: Connection) throws {
    let isThere = try connection.first(
      "SELECT 1 FROM temp.sqlite_schema WHERE name = 'giver_seen'"
    ) { _ in true }
    if isThere != true { for table in tables { try connection.run(table) } }
    try clear(connection)
  }

  package static func clear(_ connection: Connection) throws {
    for table in ["incoming", "decision", "pull_store", "giver_seen", "held_back"] {
      try connection.run("DELETE FROM \(table)")
    }
  }

  /// Adds rows to `incoming`.
  package static func add(
    _ connection: Connection, _ rows: [(entry: Entry, number: Int64)]
  ) throws {
    for (entry, number) in rows {
      try connection.run(
        """
        INSERT INTO incoming (store, key, type, value, timestamp, replica_id, sequence_number)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """,
        [
          .text(entry.address.store.string), .text(entry.address.key.string),
          .integer(entry.content.tag), entry.content.cell, .integer(entry.timestamp.rawValue),
          .integer(entry.replicaID.rawValue), .integer(number),
        ])
    }
  }

  /// Adds a row. Text keeps its bytes, which may be no UTF-8.
  package static func insert(_ connection: Connection, _ row: IncomingRow) throws {
    try connection.run(
      """
      INSERT INTO incoming VALUES (?1, CAST(?2 AS TEXT), CAST(?3 AS TEXT), ?4,
        iif(?8, CAST(?5 AS TEXT), ?5), ?6, ?7)
      """,
      [
        .integer(row.sequenceNumber), .blob(row.store), .blob(row.key), .integer(row.type),
        row.value, .integer(row.timestamp), .integer(row.replicaID),
        .integer(row.isText ? 1 : 0),
      ])
  }

  /// Notes up to which number of a store the other file has read this one.
  package static func note(
    _ connection: Connection, _ store: ByteText, sent: Int64
  ) throws {
    try connection.run(
      "INSERT INTO pull_store (store, sent) VALUES (?1, ?2)",
      [.text(store.string), .integer(sent)])
  }

  /// The rows of a page beside the local ones, with what `decide` asks.
  private static let judged = """
    SELECT i.sequence_number AS number, local.key IS NULL AS is_new,
      local.key IS NULL OR ifnull(
        (i.timestamp, i.replica_id, i.type, i.value, typeof(i.value)) > (local.timestamp,
          local.replica_id, local.type, local.value, typeof(local.value)), 0) AS wins,
      i.type IS local.type AND i.value IS local.value AS is_equal,
      i.timestamp IS local.timestamp AND i.replica_id IS local.replica_id AS is_same_write,
      ifnull(local.sequence_number <= p.sent, 0)
        AND local.sequence_number NOT IN held_back AS is_sent,
      i.timestamp <= max(ifnull(own.timestamp, -1), iif(i.replica_id = ?2, ?3, -1))
        AND NOT ifnull(i.replica_id = ?4 AND i.timestamp > ?5, 0) AS receiver_covers,
      ifnull(local.timestamp <= its.timestamp, 0) AS giver_covers, i.type <> 0 AS has_value
    FROM incoming AS i
    LEFT JOIN main.entry AS local ON local.store = i.store AND local.key = i.key
    LEFT JOIN pull_store AS p ON p.store = i.store
    LEFT JOIN main.seen AS own ON own.store = i.store AND own.replica_id = i.replica_id
    LEFT JOIN giver_seen AS its ON its.store = i.store AND its.replica_id = local.replica_id
    WHERE i.timestamp <= ?1
    """

  private static let decide = """
    INSERT INTO decision (number, applies, resends, logs, is_change, place)
    SELECT *, sum(applies OR resends) OVER (ORDER BY number ROWS UNBOUNDED PRECEDING)
    FROM (
      SELECT number, wins AS applies, NOT wins AND is_sent AND NOT is_same_row AS resends,
        NOT is_new AND NOT is_equal
          AND iif(wins, NOT (is_sent OR giver_covers), NOT receiver_covers),
        wins AND iif(is_new, has_value, NOT is_equal)
      FROM (SELECT *, is_same_write AND is_equal AS is_same_row FROM (\(judged)))
      WHERE wins OR NOT is_equal AND NOT receiver_covers
        OR is_sent AND NOT is_same_row)
    """

  /// Decides about what is in `incoming`: fills `decision`.
  ///
  /// - Parameters:
  ///   - horizon: later rows are not read yet.
  ///   - doubt: writes that the receiver may not have read, whatever its vectors say.
  package static func decide(
    _ connection: Connection, upTo horizon: HybridTimestamp, _ replica: ReplicaState,
    doubt: Doubt? = nil
  ) throws {
    try connection.run(
      decide,
      [
        .integer(horizon.rawValue), .integer(replica.id.rawValue),
        .integer(replica.last.rawValue), doubt.map { .integer($0.replicaID.rawValue) } ?? .null,
        doubt.map { .integer($0.timestamp.rawValue) } ?? .null,
      ])
  }

  /// Leaves out the rows after which a page has more bytes of values than a limit, with those that
  /// it may replace: these are in changes and in the conflict log.
  ///
  /// - Returns: the number of the last row that is left; nil if all are.
  package static func cut(_ connection: Connection, to limit: Int64) throws -> Int64? {
    let end = try connection.first(
      """
      SELECT number FROM (
        SELECT i.sequence_number AS number, sum(ifnull(length(CAST(i.value AS BLOB)), 0)
          + ifnull(length(CAST(local.value AS BLOB)), 0)) OVER (ORDER BY i.sequence_number) AS bytes
        FROM incoming AS i
        LEFT JOIN main.entry AS local ON local.store = i.store AND local.key = i.key)
      WHERE bytes >= ?1 ORDER BY number LIMIT 1
      """, [.integer(limit)]
    ) { $0.integer(0) }
    guard let end else { return nil }
    try connection.run("DELETE FROM incoming WHERE sequence_number > ?1", [.integer(end)])
    return connection.changes > 0 ? end : nil
  }

  /// Writes what was decided: conflicts first, which need the local rows.
  ///
  /// - Parameters:
  ///   - replica: its counters go on.
  ///   - now: milliseconds since 1970.
  package static func apply(
    _ connection: Connection, upTo horizon: HybridTimestamp, _ replica: inout ReplicaState,
    at now: Int64
  ) throws -> Outcome {
    var outcome = Outcome()
    var count: Int64 = 0
    try connection.run(
      "SELECT ifnull(max(place), 0), ifnull(sum(applies), 0), ifnull(max(logs), 0) FROM decision"
    ) {
      (count, outcome.applied) = ($0.integer(0), Int($0.integer(1)))
      outcome.hasLosers = $0.integer(2) == 1
      return false
    }
    if outcome.hasLosers {
      outcome.conflicts = try connection.conflictLog.appendDecided(at: now)
    }
    let base = replica.sequenceNumber
    if outcome.applied > 0 { try connection.entries.applyIncoming(after: base) }
    if outcome.applied == Int(count) {
      outcome.numbers = count > 0 ? [base + 1...base + count] : []
    } else {
      try connection.entries.resend(after: base)
      outcome.numbers = try connection.all(
        "SELECT ?1 + place FROM decision WHERE applies ORDER BY number", [.integer(base)]
      ) { $0.integer(0)...$0.integer(0) }
    }
    replica.sequenceNumber += count
    try connection.run(
      "SELECT count(*), ifnull(max(timestamp), 0) FROM incoming WHERE timestamp <= ?1",
      [.integer(horizon.rawValue)]
    ) {
      outcome.received = Int($0.integer(0))
      replica.last = max(replica.last, HybridTimestamp(rawValue: $0.integer(1)))
      return false
    }
    return outcome
  }

  /// Visits the visible changes of what was decided. A tombstone for an absent key and a newer
  /// timestamp of an equal value are none.
  ///
  /// - Parameter body: called with a change and the bytes of its values, until it returns false.
  package static func forEachChange(
    _ connection: Connection, reason: SettingChange.Reason, _ body: (SettingChange, Int) -> Bool
  ) throws {
    try connection.run(
      """
      SELECT i.store, i.key, local.type, local.value, i.type, i.value, i.timestamp, i.replica_id
      FROM decision AS d CROSS JOIN incoming AS i ON i.sequence_number = d.number
      LEFT JOIN main.entry AS local ON local.store = i.store AND local.key = i.key
      WHERE d.is_change ORDER BY d.number
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
  /// The columns `type` and `value` from `column` on; a missing row of an outer join is a
  /// tombstone.
  package func content(_ column: Int32) -> TaggedCell {
    TaggedCell(tag: integer(column), cell: cell(column + 1))
  }
}
