// SPDX-License-Identifier: Apache-2.0
//
// Every statement that writes `entry`.
//
// Invariants
// - A write replaces an entry only if it beats it: (hlc, origin, tag, value) is larger.
//   `Entry.beats` says the same in Swift; a property test proves that the two agree. Only entries
//   whose timestamps were revoked are rewritten otherwise.
// - Every row that is written takes a local sequence number above all that this file has given.
// - A tombstone is the only entry without a value. A store that is not synced keeps none.

package import KeepsakeValues

/// The table `entry` of one file, within an access.
package struct EntryTable {
  fileprivate let connection: Connection

  /// Inserts or replaces what is there, if that loses.
  private static func upsert(_ source: String) -> String {
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

  private static let upsertOne = FrequentStatement(
    upsert("VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"))
  private static let insertOne = FrequentStatement(
    """
    INSERT INTO entry (store, key, tag, value, hlc, origin, lseq)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (store, key) DO NOTHING
    """)
  private static let upsertIncoming = upsert(
    """
    SELECT store, key, tag, value, hlc, origin, ?1 + seq FROM incoming AS i
    WHERE \(Incoming.wins) ORDER BY seq
    """)

  /// Writes one entry, if it wins.
  ///
  /// - Parameter lseq: its local sequence number.
  package func apply(_ entry: Entry, as lseq: Int64) throws {
    try connection.run(Self.upsertOne) { try $0.bind(entry, as: lseq) }
  }

  /// Writes one entry, if its key has none.
  ///
  /// - Parameter lseq: its local sequence number.
  /// - Returns: whether it was written.
  func insert(_ entry: Entry, as lseq: Int64) throws -> Bool {
    try connection.run(Self.insertOne) { try $0.bind(entry, as: lseq) }
    return connection.changes == 1
  }

  /// Writes every row of `incoming` that wins, and empties `incoming`.
  ///
  /// - Parameter base: the last local sequence number given in this file.
  /// - Returns: how many rows were written.
  package func applyIncoming(after base: Int64) throws -> Int {
    try connection.run(Self.upsertIncoming, [.integer(base)])
    let written = connection.changes
    try connection.run("DELETE FROM incoming")
    return written
  }

  /// Inserts entries of another file without looking up local ones: there are none.
  ///
  /// - Parameters:
  ///   - source: as for `Incoming.fill`, with the local sequence numbers of the other file.
  ///   - newest: the latest timestamp that any of them may have.
  ///   - base: the last number given in this file; theirs are added to it.
  /// - Returns: how many; nil when one is later than `newest`, and none was inserted.
  package func insert(
    from source: String, _ arguments: [Cell], upTo newest: HybridTimestamp, after base: Int64
  ) throws -> Int? {
    let next = arguments.count + 1
    do {
      // What is too late becomes NULL, which no row may have.
      try connection.run(
        """
        INSERT INTO main.entry (store, key, tag, value, hlc, origin, lseq)
        SELECT e.store, e.key, e.tag, e.value, CASE WHEN e.hlc <= ?\(next) THEN e.hlc END,
          e.origin, ?\(next + 1) + e.lseq
        \(source)
        """, arguments + [.integer(newest.rawValue), .integer(base)])
    } catch where KeepsakeError.isMissingValue(error) {
      return nil
    }
    return connection.changes
  }

  /// Removes an entry without a trace.
  func delete(_ address: Address) throws {
    try connection.run(
      "DELETE FROM entry WHERE store = ?1 AND key = ?2",
      [.text(address.store.string), .text(address.key.string)])
  }

  /// Removes tombstones.
  ///
  /// - Parameter source: the FROM clause of a SELECT that gives their store and key, and what
  ///   follows it.
  /// - Returns: how many.
  package func collect(_ source: String, _ arguments: [Cell]) throws -> Int {
    try connection.run(
      "DELETE FROM entry WHERE (store, key) IN (SELECT store, key \(source))", arguments)
    return connection.changes
  }

  /// Gives entries later local sequence numbers, so that peers read them again.
  ///
  /// - Parameters:
  ///   - source: the FROM clause of an UPDATE and its condition; `i.seq` is added to `base`, `?1`.
  ///   - base: the last number given in this file.
  /// - Returns: how many.
  package func reissue(_ source: String, after base: Int64) throws -> Int {
    try connection.run("UPDATE main.entry SET lseq = ?1 + i.seq \(source)", [.integer(base)])
    return connection.changes
  }
}

extension Bindings {
  /// The columns in their order.
  fileprivate func bind(_ entry: Entry, as lseq: Int64) throws {
    try bind(entry.address)
    try bind(entry.content.tag, at: 3)
    try bind(entry.content.cell, at: 4)
    try bind(entry.timestamp.rawValue, at: 5)
    try bind(entry.origin.rawValue, at: 6)
    try bind(lseq, at: 7)
  }
}

// MARK: - Revoked timestamps

extension EntryTable {
  /// Which timestamps entries get whose own do not stand.
  package enum Timestamps {
    case unchanged
    /// All the same.
    case fixed(HybridTimestamp)
    /// The next ones, in their old order.
    case following(HybridTimestamp)
  }

  /// Rewrites entries by their old order, whatever they beat; each takes the next local sequence
  /// number, which `replica` then counts.
  ///
  /// - Parameters:
  ///   - condition: which entries.
  ///   - origin: the new one; nil leaves it.
  /// - Returns: how many.
  package func rewrite(
    where condition: String, _ arguments: [Cell], timestamps: Timestamps, origin: ReplicaID? = nil,
    _ replica: inout ReplicaState
  ) throws -> Int {
    var bound = arguments + [.integer(replica.lseq)]
    var columns = "lseq = ?\(bound.count) + late.n"
    func set(_ column: String, _ value: Int64, _ suffix: String = "") {
      bound.append(.integer(value))
      columns += ", \(column) = ?\(bound.count)\(suffix)"
    }
    switch timestamps {
    case .unchanged: break
    case .fixed(let time): set("hlc", time.rawValue)
    case .following(let time): set("hlc", time.rawValue, " + late.n")
    }
    if let origin { set("origin", origin.rawValue) }
    try connection.run(
      """
      WITH late AS (
        SELECT store, key, row_number() OVER (ORDER BY hlc, lseq) AS n FROM entry
        WHERE \(condition))
      UPDATE entry SET \(columns) FROM late
      WHERE entry.store = late.store AND entry.key = late.key
      """, bound)
    let count = connection.changes
    replica.lseq += Int64(count)
    return count
  }
}

extension Bindings {
  /// The store as the first argument, and the key as the second.
  func bind(_ address: Address) throws {
    try bind(address.store.string, at: 1)
    try bind(address.key.string, at: 2)
  }
}

extension Connection {
  package var entries: EntryTable { EntryTable(connection: self) }
}
