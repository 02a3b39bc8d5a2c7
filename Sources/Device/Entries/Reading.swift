// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

extension Connection {
  private static let entryOfKey = FrequentStatement(
    """
    SELECT type, value, timestamp, replica_id, sequence_number FROM entry
    WHERE store = ?1 AND key = ?2
    """)

  /// The entry of a key, a tombstone included.
  package func entry(at address: Address) throws -> Entry? {
    try numberedEntry(at: address)?.entry
  }

  /// As `entry`, with its sequence number.
  package func numberedEntry(at address: Address) throws -> (entry: Entry, number: Int64)? {
    var result: (entry: Entry, number: Int64)?
    try run(Self.entryOfKey) {
      try $0.bind(address)
    } row: { row in
      result = (row.entry(address, from: 0), row.integer(4))
      return false
    }
    return result
  }
}

extension Row {
  /// The columns type, value, timestamp, replica_id from `column` on.
  package func entry(_ address: Address, from column: Int32) -> Entry {
    Entry(
      address, content(column), timestamp: HybridTimestamp(rawValue: integer(column + 2)),
      replicaID: ReplicaID(rawValue: integer(column + 3)))
  }

  /// The columns store, key, type, value, timestamp, replica_id from `column` on.
  package func entry(from column: Int32) -> Entry {
    entry(Address(store: text(column), key: text(column + 1)), from: column + 2)
  }
}

extension Device {
  /// The entry of a key, a tombstone included; nil when the key was never set.
  package func entry(store: String, key: String) throws(KeepsakeError) -> Entry? {
    try tables.look { try $0.entry(at: Address(store: store, key: key)) }
  }

  /// Calls `body` for entries in the order of store and key, from one snapshot.
  ///
  /// - Parameters:
  ///   - store: only this store; nil for all.
  ///   - prefix: only keys that start with these bytes.
  package func forEachEntry(
    store: String? = nil, prefix: String = "", _ body: (Entry) throws -> Void
  ) throws(KeepsakeError) {
    try tables.look { try $0.forEachEntry(store: store, prefix: prefix, body) }
  }

  /// Calls `body` for entries in the order of timestamp, replica ID, store and key, from one
  /// snapshot. SQLite sorts them in a temporary file, and reads large values when their turn comes.
  /// For a device that was opened read-only.
  ///
  /// - Parameter store: only this store; nil for all.
  package func forEachEntryByTime(
    store: String? = nil, _ body: (Entry) throws -> Void
  ) throws(KeepsakeError) {
    try tables.access { connection in
      // This drops temporary tables; only a device that can be written has some.
      try connection.run("PRAGMA temp_store = FILE")
      try connection.transaction(.deferred) { connection in
        var isChecked = false
        try connection.forEachEntryByTime(store: store) { entry, isSorted in
          // `body` gets nothing that was read after the file had changed.
          if !isChecked || !isSorted { try tables.checkUnchanged() }
          isChecked = true
          try body(entry)
        }
      }
    }
  }

  /// The stores that have entries, in order. One index seek for each.
  package func stores() throws(KeepsakeError) -> [String] {
    try tables.access { try $0.stores() }
  }

  /// The stores in which a key has a value or a seeded default, in order.
  package func storesWithValue(key: String) throws(KeepsakeError) -> [String] {
    try tables.access { connection in
      let seeded = try connection.all(
        "SELECT DISTINCT store FROM default_value WHERE key = ?1", [.text(key)]
      ) { $0.text(0) }
      let set = try connection.stores().filter { store in
        try connection.entry(at: Address(store: store, key: key))?.content.ifValue != nil
      }
      return Set(seeded + set).sorted()
    }
  }

  /// How many entries of a store have changed after a sequence number, without those that a replica
  /// ID has written, and since when. O(changes).
  package func changes(
    of store: String, after number: Int64, except writer: ReplicaID
  ) throws(KeepsakeError) -> (count: Int, since: HybridTimestamp?) {
    try tables.access { connection in
      try connection.first(
        """
        SELECT count(*), ifnull(min(timestamp), 0) FROM entry INDEXED BY entry_sequence
        WHERE sequence_number > ?1 AND store = ?2 AND replica_id <> ?3
        """, [.integer(number), .text(store), .integer(writer.rawValue)]
      ) { row in
        let count = Int(row.integer(0))
        return (count, count > 0 ? HybridTimestamp(rawValue: row.integer(1)) : nil)
      } ?? (0, nil)
    }
  }

  /// The device's identity. It changes when the file turns out to be a copy of another device's.
  public func replica() throws(KeepsakeError) -> ReplicaID { try replicaState().id }

  /// The device's identity and its two counters.
  package func replicaState() throws(KeepsakeError) -> ReplicaState {
    try tables.look { try ReplicaState($0) }
  }

  /// Runs `body` so that what it reads on this device is from one snapshot.
  package func survey<Value>(_ body: () throws -> Value) throws(KeepsakeError) -> Value {
    try tables.survey { _ in try body() }
  }
}

extension Connection {
  /// The stores that a table names, in order. One seek for each in its primary key, which begins
  /// with the store.
  package func stores(in table: String = "entry") throws -> [String] {
    try all(
      """
      WITH RECURSIVE name (store) AS (
        SELECT min(store) FROM \(table)
        UNION ALL
        SELECT (SELECT min(store) FROM \(table) WHERE store > name.store) FROM name
        WHERE name.store IS NOT NULL
      )
      SELECT store FROM name WHERE store IS NOT NULL
      """
    ) { $0.text(0) }
  }

  /// As that of `Device`.
  ///
  /// - Parameters:
  ///   - check: called for each row; what it throws ends the reading.
  ///   - isWanted: called for each row with the prefix, before its value is read.
  func forEachEntry(
    store: String?, prefix: String = "", check: () throws -> Void = {},
    where isWanted: (Address) -> Bool = { _ in true }, _ body: (Entry) throws -> Void
  ) throws {
    var room = try maximumRows()
    try run(
      """
      SELECT store, key, type, value, timestamp, replica_id FROM entry
      WHERE \(store == nil ? "" : "store = ?1 AND") key >= ?2 ORDER BY store, key
      """,
      [store.map(Cell.text) ?? .null, .text(prefix)]
    ) { row in
      try check()
      guard room > 0 else { throw holdsEntryTwice }
      room -= 1
      let key = row.text(1)
      // The keys of one store that begin with it follow each other.
      guard key.utf8.starts(with: prefix.utf8) else { return store == nil }
      let address = Address(store: row.text(0), key: key)
      if isWanted(address) { try body(row.entry(address, from: 2)) }
      return true
    }
  }

  /// As that of `Device`.
  ///
  /// - Parameter body: its second argument is whether the entry was read before the first call.
  fileprivate func forEachEntryByTime(
    store: String?, _ body: (Entry, _ isSorted: Bool) throws -> Void
  ) throws {
    var room = try maximumRows()
    // Bytes: SQLite counts the characters of a text, and only those before the first NUL.
    try run(
      """
      SELECT store, key, type, iif(length(CAST(value AS BLOB)) > 1000, NULL, value), timestamp,
        replica_id, length(CAST(value AS BLOB)) > 1000
      FROM entry WHERE ?1 IS NULL OR store = ?1 ORDER BY timestamp, replica_id, store, key
      """,
      [store.map(Cell.text) ?? .null]
    ) { row in
      guard room > 0 else { throw holdsEntryTwice }
      room -= 1
      var entry = row.entry(from: 0)
      let isLong = row.integer(6) == 1
      if isLong { entry.content.cell = try value(of: row) }
      try body(entry, !isLong)
      return true
    }
  }

  /// The value of an entry.
  ///
  /// - Parameter row: begins with its store and key, whose bytes may be no UTF-8.
  private func value(of row: Row) throws -> Cell {
    let cell = try first(
      "SELECT value FROM entry WHERE store = CAST(?1 AS TEXT) AND key = CAST(?2 AS TEXT)",
      [.blob(row.bytes(0)), .blob(row.bytes(1))]
    ) { $0.cell(0) }
    guard let cell else { throw Schema.damaged(path, "its pages are not in order") }
    return cell
  }

  /// Pages that are reached in several ways give their rows again, perhaps without end.
  private var holdsEntryTwice: KeepsakeError {
    Schema.damaged(path, "its pages hold an entry twice")
  }

  /// More entries than the file can have: each takes more than eight bytes of a page.
  private func maximumRows() throws -> Int64 { try databaseSize() / 8 }
}
