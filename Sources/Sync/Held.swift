// SPDX-License-Identifier: Apache-2.0
//
// Entries from the future. A device with a fast clock would otherwise win every key until time
// catches up, and its timestamps would drag every other clock along. So an entry further ahead than
// the allowed skew is held, keeps its timestamp, and is applied when due.

package import KeepsakeDevice
package import KeepsakeValues

package enum Held {
  /// Milliseconds that a timestamp may be ahead of this device's clock by default.
  static let defaultSkew: Int64 = 5 * 60 * 1000

  /// The last timestamp that is not from the future.
  package static func horizon(now: Int64, skew: Int64) -> HybridTimestamp {
    let (sum, overflow) = now.addingReportingOverflow(skew)
    let limit = HybridTimestamp(milliseconds: overflow ? .max : sum)
    return HybridTimestamp(rawValue: limit.rawValue | 0xFFFF)
  }

  /// The entry that wins each key among the due ones; the others would lose to it.
  private static let dueWinners = """
    (
      SELECT *, row_number() OVER (
        PARTITION BY store, key ORDER BY hlc DESC, origin DESC, tag DESC, value DESC,
          typeof(value) DESC) AS place
      FROM held WHERE hlc <= ?1)
    """

  /// Conflicts: entries that lose to a due one and were written after that one came here, so that
  /// its writer cannot have seen them.
  private static let replaced = """
    SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin, h.tag, h.hlc, h.origin, ?2
    FROM \(dueWinners) AS h JOIN entry AS e ON e.store = h.store AND e.key = h.key
    WHERE h.place = 1 AND (h.hlc, h.origin) > (e.hlc, e.origin) AND e.hlc >= h.held_at << 16
      AND (h.tag IS NOT e.tag OR h.value IS NOT e.value)
    """

  /// Conflicts: due entries that lose to what this device itself wrote while they were hidden.
  private static let late = """
    SELECT h.store, h.key, h.tag, h.value, h.hlc, h.origin, e.tag, e.hlc, e.origin, ?2
    FROM (\(dueWinners)) AS h JOIN entry AS e ON e.store = h.store AND e.key = h.key
    WHERE (h.hlc, h.origin) < (e.hlc, e.origin)
      AND e.origin IN \(Identity.own)
      AND h.origin NOT IN \(Identity.own)
      AND (h.tag IS NOT e.tag OR h.value IS NOT e.value)
    """

  package static func count(_ connection: Connection) throws -> Int {
    Int(try connection.first("SELECT count(hlc) FROM held") { $0.integer(0) } ?? 0)
  }

  /// Whether anything waits that will win over what is here now.
  static func mattersAny(_ connection: Connection) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM held AS h LEFT JOIN entry AS e ON e.store = h.store AND e.key = h.key
      WHERE e.hlc IS NULL OR (h.hlc, h.origin, h.tag, h.value, typeof(h.value))
        > (e.hlc, e.origin, e.tag, e.value, typeof(e.value))
      LIMIT 1
      """
    ) { _ in true } ?? false
  }

  /// The timestamp of the entry that is due first; nil when nothing waits.
  package static func first(_ connection: Connection) throws -> HybridTimestamp? {
    try connection.first("SELECT hlc FROM held ORDER BY hlc LIMIT 1") {
      HybridTimestamp(rawValue: $0.integer(0))
    }
  }

  /// What waits, the first to be due first.
  ///
  /// - Parameter address: only of this key; nil for all.
  package static func entries(
    _ connection: Connection, of address: Address? = nil
  ) throws -> [Entry] {
    try connection.all(
      """
      SELECT store, key, tag, value, hlc, origin FROM held
      WHERE ?1 IS NULL OR (store = ?1 AND key = ?2) ORDER BY hlc, store, key
      """,
      [
        address.map { .text($0.store.string) } ?? .null,
        address.map { .text($0.key.string) } ?? .null,
      ]
    ) { $0.entry(Address(store: $0.text(0), key: $0.text(1)), from: 2) }
  }

  static func isAnyDue(_ connection: Connection, now: Int64, skew: Int64) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM held WHERE hlc <= ?1 LIMIT 1",
      [.integer(horizon(now: now, skew: skew).rawValue)]
    ) { _ in true } ?? false
  }

  /// Takes what is timestamped beyond `horizon` and would win out of `incoming`, to wait. What
  /// loses already, or is here already, is decided.
  ///
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: how many.
  package static func hold(
    _ connection: Connection, beyond horizon: HybridTimestamp, at now: Int64
  ) throws -> Int {
    // Two copies of a file may have minted one timestamp for two values: the larger one would win.
    try connection.run(
      """
      INSERT INTO main.held (store, key, tag, value, hlc, origin, held_at)
      SELECT store, key, tag, value, hlc, origin, ?2 FROM incoming AS i
      WHERE hlc > ?1 AND \(Incoming.wins)
      ON CONFLICT (store, key, hlc, origin) DO UPDATE SET tag = excluded.tag, value = excluded.value
      WHERE (excluded.tag, excluded.value, typeof(excluded.value))
        > (held.tag, held.value, typeof(held.value))
      """, [.integer(horizon.rawValue), .integer(now)])
    try connection.run(
      "DELETE FROM incoming AS i WHERE hlc > ?1 AND \(Incoming.wins)", [.integer(horizon.rawValue)])
    return connection.changes
  }

  /// Holds what this device has accepted of others from the future, deletions that were collected
  /// too: what is written now must not lose to them.
  static func holdAccepted(
    _ connection: Connection, beyond horizon: HybridTimestamp, at now: Int64
  ) throws {
    for (columns, table) in [("tag, value", "entry"), ("0, NULL", "grave")] {
      try connection.run(
        """
        INSERT OR IGNORE INTO held (store, key, tag, value, hlc, origin, held_at)
        SELECT store, key, \(columns), hlc, origin, ?2 FROM \(table)
        WHERE hlc > ?1 AND origin NOT IN \(Identity.own)
        """, [.integer(horizon.rawValue), .integer(now)])
    }
  }

  /// Drops what has a timestamp that was revoked.
  ///
  /// - Returns: how many.
  @discardableResult
  static func dropRevoked(_ connection: Connection) throws -> Int {
    try connection.run(
      "DELETE FROM held WHERE hlc > (SELECT v.hlc FROM void AS v WHERE v.origin = held.origin)")
    return connection.changes
  }

  /// Applies every due entry, in this transaction.
  package static func promote(
    _ connection: Connection, now: Int64, skew: Int64
  ) throws -> [SettingChange] {
    let horizon = Cell.integer(horizon(now: now, skew: skew).rawValue)
    var replica = try ReplicaState(connection)
    let log = connection.conflictLog
    for losers in [replaced, late] { try log.append(losers, [horizon, .integer(now)]) }
    try log.trim()
    let count = try Incoming.fill(
      connection, from: "FROM \(dueWinners) AS e WHERE e.place = 1 ORDER BY e.hlc", [horizon])
    guard count > 0 else { return [] }
    let changes = try Incoming.changes(connection, reason: .merge)
    let newest = try connection.first("SELECT max(hlc) FROM incoming") { $0.integer(0) } ?? 0
    _ = try connection.entries.applyIncoming(after: replica.lseq)
    try connection.run("DELETE FROM held WHERE hlc <= ?1", [horizon])
    replica.last = max(replica.last, HybridTimestamp(rawValue: newest))
    replica.lseq += Int64(count)
    try replica.save(connection)
    return changes
  }
}

extension Device {
  /// Applies the held entries whose time has come.
  package func promoteDueEntries() throws(KeepsakeError) {
    guard !core.isReadOnly else { return }
    let now = clock.milliseconds
    guard try core.access({ try Held.isAnyDue($0, now: now, skew: Held.defaultSkew) }) else {
      return
    }
    try core.write { connection in
      ((), try Held.promote(connection, now: now, skew: Held.defaultSkew))
    }
  }
}
