// SPDX-License-Identifier: Apache-2.0
//
// Every statement about `conflict`, the log of what lost merges on this device. It is bounded: its
// numbers, which only grow, tell how many of the oldest it no longer has.

import KeepsakeStorage
package import KeepsakeValues

/// The conflict log of one file, within an access.
package struct ConflictLog {
  /// Rows that it keeps; the oldest go first.
  package static let capacity: Int64 = 10_000
  /// Bytes of lost values that it keeps, or else one conflict: 64 MiB.
  private static let capacityBytes: Int64 = 1 << 26

  let connection: Connection

  // MARK: - Adding

  private static let columns = """
    store, key, loser_tag, loser_value, loser_hlc, loser_origin, winner_tag, winner_hlc,
    winner_origin, at
    """

  /// Adds rows as they come; the caller trims.
  ///
  /// - Parameter select: gives the columns of a conflict, from `store` to `at`.
  package func append(_ select: String, _ arguments: [Cell]) throws {
    try connection.run("INSERT INTO conflict (\(Self.columns)) \(select)", arguments)
  }

  /// Adds rows, the newest that there is room for.
  ///
  /// - Parameters:
  ///   - values: the columns of a conflict but `at`. They are computed only for rows that are
  ///     written, and not sorted, which would hold several copies of a value.
  ///   - rows: the FROM clause of rows `i`, with a condition, numbered by `i.seq`.
  ///   - omitted: how many there were before them that have no room.
  ///   - now: milliseconds since 1970.
  /// - Returns: how many rows there were, with those omitted.
  package func append(
    _ values: String, of rows: String, after omitted: Int = 0, at now: Int64
  ) throws -> Int {
    let count = try connection.first("SELECT count(*) \(rows)") { $0.integer(0) } ?? 0
    guard count > 0 else { return 0 }
    var first: Int64 = 0
    if count >= Self.capacity {
      first =
        try connection.first(
          "SELECT i.seq \(rows) ORDER BY i.seq DESC LIMIT 1 OFFSET ?1",
          [.integer(Self.capacity - 1)]
        ) { $0.integer(0) } ?? 0
      // All at once, which costs a tenth of what it costs one by one.
      try connection.run("DELETE FROM conflict")
    }
    try skip(max(0, count - Self.capacity) + Int64(omitted))
    try append(
      "SELECT \(values), ?1 \(rows) AND i.seq >= ?2 ORDER BY i.seq",
      [.integer(now), .integer(first)])
    try trim()
    return Int(count) + omitted
  }

  /// Gives the next conflicts later numbers: those tell how many had no room.
  private func skip(_ count: Int64) throws {
    guard count > 0 else { return }
    try connection.run(
      "UPDATE sqlite_sequence SET seq = seq + ?1 WHERE name = 'conflict'", [.integer(count)])
    guard connection.changes == 0 else { return }
    // There has never been one.
    try connection.run(
      "INSERT INTO sqlite_sequence (name, seq) VALUES ('conflict', ?1)", [.integer(count)])
  }

  /// Drops the oldest conflicts beyond `capacity` and `capacityBytes`.
  package func trim() throws {
    var (first, count, bytes): (Int64?, Int64, Int64) = (nil, 0, 0)
    try connection.run(
      "SELECT id, length(CAST(loser_value AS BLOB)) FROM conflict ORDER BY id DESC"
    ) { row in
      count += 1
      bytes += row.integer(1)
      guard count <= 1 || (count <= Self.capacity && bytes <= Self.capacityBytes) else {
        return false
      }
      first = row.integer(0)
      return true
    }
    try connection.run(
      "DELETE FROM conflict WHERE id < ?1", [first.map { .integer($0) } ?? .null])
  }

  /// Empties it, as if there had never been a conflict.
  package func clear() throws {
    try connection.run("DELETE FROM conflict")
    try connection.run("DELETE FROM sqlite_sequence WHERE name = 'conflict'")
  }

  /// Adds what an attached log of this device has in addition, and marks what was decided there.
  func bringIn(from schema: String) throws {
    let isSame = """
      mine.store = its.store AND mine.key = its.key AND mine.loser_hlc = its.loser_hlc
      AND mine.loser_origin = its.loser_origin AND mine.winner_hlc = its.winner_hlc
      """
    let state = "resolved, receiver, giver"
    try connection.run(
      """
      UPDATE conflict AS mine SET (\(state)) = (its.resolved, its.receiver, its.giver)
      FROM \(schema).conflict AS its
      WHERE mine.resolved = 0 AND its.resolved IN (1, 3) AND \(isSame)
      """)
    try connection.run(
      """
      INSERT INTO conflict (\(Self.columns), \(state))
      SELECT \(Self.columns), \(state) FROM \(schema).conflict AS its
      WHERE NOT EXISTS (SELECT 1 FROM main.conflict AS mine WHERE \(isSame)) ORDER BY id
      """)
    try trim()
  }

  // MARK: - Reading

  /// The conflicts after a number, oldest first.
  ///
  /// - Parameters:
  ///   - store: only of this store; nil for all.
  ///   - bytes: of values that may be read; what is left of it.
  package func conflicts(
    after id: Int64, store: String? = nil, limit: Int = .max, within bytes: inout Int
  ) throws -> [Conflict] {
    var conflicts: [Conflict] = []
    guard bytes > 0 else { return conflicts }
    try connection.run(
      """
      SELECT id, \(Self.columns), resolved
      FROM conflict WHERE id > ?1 AND (?2 IS NULL OR store = ?2) ORDER BY id LIMIT ?3
      """, [.integer(id), store.map(Cell.text) ?? .null, .integer(Int64(limit))]
    ) { row in
      let conflict = Conflict(row)
      conflicts.append(conflict)
      bytes -= conflict.loser.cell.byteCount
      return bytes > 0
    }
    return conflicts
  }

  package func conflicts(
    after id: Int64, store: String? = nil, limit: Int = .max
  ) throws -> [Conflict] {
    var bytes = Int.max
    return try conflicts(after: id, store: store, limit: limit, within: &bytes)
  }

  /// The number of the newest conflict; 0 when there is none.
  package func last() throws -> Int64 {
    try connection.first("SELECT ifnull(max(id), 0) FROM conflict") { $0.integer(0) } ?? 0
  }

  /// How many of the oldest it no longer has.
  package func dropped() throws -> Int64 {
    try connection.first("SELECT min(id) - 1 FROM conflict") { $0.integer(0) } ?? 0
  }

  // MARK: - Resolving

  /// What the column `resolved` says.
  package enum State: Int64 {
    case open, resolved
    /// A handover from another log has begun: it may still be open there.
    case onItsWay
    case handedOver

    /// Whether this log has nothing to decide any more.
    package var isResolved: Bool { self == .resolved || self == .handedOver }
  }

  /// The numbers of a store's open conflicts, the oldest first.
  package func open(store: String) throws -> [Int64] {
    try connection.all(
      "SELECT id FROM conflict WHERE resolved = 0 AND store = ?1 ORDER BY id", [.text(store)]
    ) { $0.integer(0) }
  }

  /// Marks what was restored: also on its way here, or it would be opened and resolved once more.
  ///
  /// Its number may have changed since, or be that of another log.
  ///
  /// - Returns: what it was, by its numbers.
  func markRestored(_ conflict: Conflict) throws -> [Unresolved] {
    let those = "\(Handover.isSame) AND resolved IN (0, 2)"
    let before = try connection.all(
      "SELECT id, resolved FROM conflict WHERE \(those)", conflict.identity
    ) { Unresolved(id: $0.integer(0), state: $0.integer(1)) }
    try connection.run("UPDATE conflict SET resolved = 1 WHERE \(those)", conflict.identity)
    return before
  }

  /// What `markRestored` found, unless it has changed or gone since.
  package func reopen(_ conflicts: [Unresolved]) throws {
    for conflict in conflicts {
      try connection.run(
        "UPDATE conflict SET resolved = ?2 WHERE id = ?1 AND resolved = 1",
        [.integer(conflict.id), .integer(conflict.state)])
    }
  }

  /// - Returns: whether it was open until now, and is still in the log.
  func markResolved(_ id: Int64) throws -> Bool {
    try connection.run(
      "UPDATE conflict SET resolved = 1 WHERE id = ?1 AND resolved = 0", [.integer(id)])
    return connection.changes > 0
  }
}

// MARK: - Handovers

extension ConflictLog {
  /// A conflict's row without its number, which each log gives.
  package struct Handover {
    fileprivate let cells: [Cell]

    /// What identifies it: store, key, loser's timestamp and origin, winner's timestamp.
    package var identity: [Cell] { [cells[0], cells[1], cells[4], cells[5], cells[7]] }
    fileprivate static let isSame =
      "store = ?1 AND key = ?2 AND loser_hlc = ?3 AND loser_origin = ?4 AND winner_hlc = ?5"
  }

  /// The conflicts of a store that are in a state, the oldest first.
  package func handovers(of store: String, _ state: State) throws -> [Handover] {
    try connection.all(
      "SELECT \(Self.columns) FROM conflict WHERE store = ?1 AND resolved = ?2 ORDER BY id",
      [.text(store), .integer(state.rawValue)]
    ) { row in Handover(cells: (0..<10).map { row.cell($0) }) }
  }

  /// What a log says of a conflict: its state, and between which two logs it last went, by the
  /// identities that the devices had when that began.
  package struct Progress {
    package let state: State?
    package let receiver: Int64
    package let giver: Int64
  }

  /// If the log also has a conflict of its own, the state of that one, so that no device waits for
  /// one that is on its way. Of two handovers the last counts.
  package func progress(of handover: Handover) throws -> Progress? {
    try progress(handover, "ORDER BY resolved = 2, resolved, id DESC")
  }

  /// The state of one that is on its way here.
  package func arrival(of handover: Handover) throws -> Progress? {
    try progress(handover, "AND resolved = 2")
  }

  private func progress(_ handover: Handover, _ condition: String) throws -> Progress? {
    try connection.first(
      """
      SELECT resolved, receiver, giver FROM conflict WHERE \(Handover.isSame) \(condition) LIMIT 1
      """, handover.identity
    ) { row in
      Progress(
        state: State(rawValue: row.integer(0)), receiver: row.integer(1), giver: row.integer(2))
    }
  }

  /// Notes a conflict as on its way, unless it is open or resolved here, as in the log of a copy.
  package func expect(_ handover: Handover, from giver: Int64, by receiver: Int64) throws {
    // Anew, or it might be the oldest, and the next to be dropped.
    try connection.run(
      "DELETE FROM conflict WHERE \(Handover.isSame) AND resolved IN (2, 3)", handover.identity)
    guard try progress(of: handover) == nil else { return }
    try connection.run(
      """
      INSERT INTO conflict (\(Self.columns), resolved, receiver, giver)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 2, ?11, ?12)
      """, handover.cells + [.integer(receiver), .integer(giver)])
  }

  /// Marks an open conflict as handed over.
  package func handOver(_ handover: Handover, to receiver: Int64) throws {
    try connection.run(
      "UPDATE conflict SET resolved = 3, receiver = ?6 WHERE \(Handover.isSame) AND resolved = 0",
      handover.identity + [.integer(receiver)])
  }

  /// Opens a conflict that is on its way.
  package func open(_ handover: Handover) throws {
    try connection.run(
      "UPDATE conflict SET resolved = 0 WHERE \(Handover.isSame) AND resolved = 2",
      handover.identity)
  }

  /// Drops a conflict that is on its way.
  package func drop(_ handover: Handover) throws {
    try connection.run(
      "DELETE FROM conflict WHERE \(Handover.isSame) AND resolved = 2", handover.identity)
  }
}
