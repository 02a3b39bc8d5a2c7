// SPDX-License-Identifier: Apache-2.0
//
// The winning rows, and their pages.

import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues

extension FileTables {
  static let columns = "store, key, tag, value, hlc, origin"

  private static let atAddress = FrequentStatement(
    "SELECT tag, value, hlc, origin, seq FROM entry WHERE account = ?1 AND store = ?2 AND key = ?3")
  private static let put = FrequentStatement(
    """
    INSERT INTO entry (account, \(columns), seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (account, store, key) DO UPDATE SET tag = excluded.tag, value = excluded.value,
      hlc = excluded.hlc, origin = excluded.origin, seq = excluded.seq
    """)
  private static let nextStore = FrequentStatement(
    """
    SELECT store FROM entry WHERE account = ?1 AND store > ?2 ORDER BY store LIMIT 1
    """)
  private static let last = FrequentStatement(
    "SELECT seq FROM entry WHERE account = ?1 AND store = ?2 ORDER BY seq DESC LIMIT 1")
  private static let ofOrigin = FrequentStatement(
    "SELECT 1 FROM entry WHERE account = ?1 AND origin = ?2 AND hlc > ?3 LIMIT 1")

  func rows(at addresses: [Address]) throws -> [Address: HubAnswer.Row] {
    var found: [Address: HubAnswer.Row] = [:]
    found.reserveCapacity(addresses.count)
    for address in addresses {
      try connection.run(
        Self.atAddress,
        bind: { row in
          try row.bind(number, at: 1)
          try row.bind(address.store.string, at: 2)
          try row.bind(address.key.string, at: 3)
        }
      ) { row in
        found[address] = HubAnswer.Row(
          Entry(
            address, TaggedCell(tag: row.integer(0), cell: row.cell(1)),
            timestamp: HybridTimestamp(rawValue: row.integer(2)),
            origin: ReplicaID(rawValue: row.integer(3))), seq: row.integer(4))
        return false
      }
    }
    return found
  }

  /// An entry of `columns`, from a column on.
  static func entry(_ row: Row, at place: Int32 = 0) -> Entry {
    Entry(
      Address(store: row.text(place), key: row.text(place + 1)),
      TaggedCell(tag: row.integer(place + 2), cell: row.cell(place + 3)),
      timestamp: HybridTimestamp(rawValue: row.integer(place + 4)),
      origin: ReplicaID(rawValue: row.integer(place + 5)))
  }

  /// The account and an entry, as ?1 to ?7.
  func bind(_ entry: Entry, to row: Bindings) throws {
    try row.bind(number, at: 1)
    try row.bind(entry.address.store.string, at: 2)
    try row.bind(entry.address.key.string, at: 3)
    try row.bind(entry.content.tag, at: 4)
    try row.bind(entry.content.cell, at: 5)
    try row.bind(entry.timestamp.rawValue, at: 6)
    try row.bind(entry.origin.rawValue, at: 7)
  }

  func put(_ rows: [HubAnswer.Row]) throws {
    for row in rows {
      try connection.run(Self.put) { bindings in
        try bind(row.entry, to: bindings)
        try bindings.bind(row.seq, at: 8)
      }
    }
    if !rows.isEmpty { hasNews = true }
  }

  // MARK: - Pages

  /// Reads what it returns, and one more row: before the echo and after it, never through it.
  func rows(
    after cursors: [ByteText: Int64], and after: Int64, through: Int64, except echo: EchoRange,
    _ limit: HubRequest.PageLimit
  ) throws -> (rows: [HubAnswer.Row], hasMore: Bool) {
    var (rows, bytes, hasMore) = ([HubAnswer.Row](), 0, false)
    let parts =
      echo.lower < echo.upper
      ? [(after, min(through, echo.lower)), (max(after, echo.upper), through)]
      : [(after, through)]
    for (lower, upper) in parts where lower < upper && !hasMore {
      let stores = cursors.filter { $0.value < upper }.sorted { $0.key < $1.key }
      guard !stores.isEmpty else { continue }
      var arguments: [Cell] = [.integer(number), .integer(upper)]
      for (store, cursor) in stores {
        arguments += [.text(store.string), .integer(max(cursor, lower))]
      }
      try connection.run(Self.page(of: stores.count), arguments) { row in
        guard rows.count < limit.rows, bytes < limit.bytes else {
          hasMore = true
          return false
        }
        let next = HubAnswer.Row(Self.entry(row), seq: row.integer(6))
        rows.append(next)
        bytes += next.entry.size
        return true
      }
    }
    return (rows, hasMore)
  }

  /// Each store's rows come in order, from its index; SQLite merges them without sorting.
  ///
  /// - Parameter count: of stores.
  static func page(of count: Int) -> String {
    let parts = (0..<count).map { place in
      """
      SELECT \(columns), seq FROM entry INDEXED BY entry_seq
      WHERE account = ?1 AND store = ?\(2 * place + 3) AND seq > ?\(2 * place + 4) AND seq <= ?2
      """
    }
    return parts.joined(separator: " UNION ALL ") + " ORDER BY seq"
  }

  // MARK: - Deletions

  private static let tombstones = FrequentStatement(
    """
    SELECT \(columns), seq FROM entry INDEXED BY entry_deleted
    WHERE account = ?1 AND store = ?2 AND tag = 0 AND seq <= ?3 AND hlc < ?4 ORDER BY seq LIMIT ?5
    """)
  private static let remove = FrequentStatement(
    "DELETE FROM entry WHERE account = ?1 AND store = ?2 AND key = ?3")

  func tombstones(
    of store: ByteText, through seq: Int64, before timestamp: HybridTimestamp, limit: Int
  ) throws -> [HubAnswer.Row] {
    var rows: [HubAnswer.Row] = []
    try connection.run(
      Self.tombstones,
      bind: { row in
        try row.bind(number, at: 1)
        try row.bind(store.string, at: 2)
        try row.bind(seq, at: 3)
        try row.bind(timestamp.rawValue, at: 4)
        try row.bind(Int64(limit), at: 5)
      }
    ) { row in
      rows.append(HubAnswer.Row(Self.entry(row), seq: row.integer(6)))
      return true
    }
    return rows
  }

  func remove(_ rows: [HubAnswer.Row]) throws {
    for row in rows {
      try connection.run(Self.remove) { bindings in
        try bindings.bind(number, at: 1)
        try bindings.bind(row.entry.address.store.string, at: 2)
        try bindings.bind(row.entry.address.key.string, at: 3)
      }
    }
  }

  func lastOfEachStore() throws -> [ByteText: Int64] {
    var all: [ByteText: Int64] = [:]
    var store = ""
    while let next = try first(Self.nextStore, after: store, { $0.text(0) }) {
      all[ByteText(next)] = try first(Self.last, after: next) { $0.integer(0) }
      store = next
    }
    return all
  }

  private func first<Value>(
    _ statement: FrequentStatement, after store: String, _ read: (Row) -> Value
  ) throws -> Value? {
    var value: Value?
    try connection.run(
      statement,
      bind: { row in
        try row.bind(number, at: 1)
        try row.bind(store, at: 2)
      }
    ) { row in
      value = read(row)
      return false
    }
    return value
  }

  func hasRows(of origin: ReplicaID, after timestamp: HybridTimestamp) throws -> Bool {
    var hasAny = false
    try connection.run(
      Self.ofOrigin,
      bind: { row in
        try row.bind(number, at: 1)
        try row.bind(origin.rawValue, at: 2)
        try row.bind(timestamp.rawValue, at: 3)
      }
    ) { _ in
      hasAny = true
      return false
    }
    return hasAny
  }

  static func removeEntries(of account: Int64, _ connection: Connection) throws {
    try connection.run("DELETE FROM entry WHERE account = ?1", [.integer(account)])
  }
}
