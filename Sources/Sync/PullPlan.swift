// SPDX-License-Identifier: Apache-2.0
//
// In which transactions a pull reads what the receiver lacks, so that none takes more than so many
// entries and so many bytes.
//
// A store that was never read is read whole, by key, which is the order of both files: by arrival
// it takes several times as long. Its cursor is only written when all of it was read; a pull that
// was interrupted starts again, and what it reads again changes nothing. The other stores are read
// on from their cursors, by arrival.
//
// The plan holds although the sender goes on writing: what it writes takes a local sequence number
// beyond `end`, so entries only leave what is planned, and are read the next time.

import Foundation
import KeepsakeDevice
import KeepsakeValues

struct PullPlan {
  /// The address of a row, as the bytes that its file has: a key may be no UTF-8, and what is
  /// repaired to be some sorts elsewhere.
  struct Place {
    var store = Data()
    var key = Data()

    fileprivate func precedes(_ other: Place) -> Bool {
      store == other.store
        ? key.lexicographicallyPrecedes(other.key)
        : store.lexicographicallyPrecedes(other.store)
    }
  }

  /// What one transaction reads.
  enum Chunk {
    /// Of stores that were never read, from after one place up to another or to the end.
    case keys(after: Place, through: Place?)
    /// Of the other stores, from after one local sequence number up to another.
    case arrivals(after: Int64, through: Int64)
    /// Collected deletions of what the receiver still has, by address.
    case graves(after: Place, through: Place?)

    /// Takes away what comes before and at a row of `lseq`, `store`, `key`, and returns that.
    ///
    /// - Returns: nil when the row does not come after the chunk's beginning.
    fileprivate mutating func cut(at row: Row) -> Chunk? {
      switch self {
      case .keys(let after, let through):
        let place = Place(store: row.bytes(1), key: row.bytes(2))
        guard after.precedes(place) else { return nil }
        self = .keys(after: place, through: through)
        return .keys(after: after, through: place)
      case .graves(let after, let through):
        let place = Place(store: row.bytes(1), key: row.bytes(2))
        guard after.precedes(place) else { return nil }
        self = .graves(after: place, through: through)
        return .graves(after: after, through: place)
      case .arrivals(let after, let through):
        let place = row.integer(0)
        guard after < place else { return nil }
        self = .arrivals(after: place, through: through)
        return .arrivals(after: after, through: place)
      }
    }
  }

  /// Bytes of keys and values after which no transaction takes another entry: 16 MiB.
  static let chunkBytes = 1 << 24

  private(set) var chunks: [Chunk] = []
  /// The newest timestamp of each chunk when it was planned.
  private var newest: [HybridTimestamp] = []
  /// Of the sender's file then: SQLite gives it another one after each commit.
  private let version: Int64
  /// The last local sequence number that is read.
  let end: Int64
  /// The sender's last collection; another one makes the plan void.
  let collected: Int64
  private let echo: EchoRange
  private let size: Int
  private let path: String

  /// Measures all that is to be read. Needs `Connection.want`.
  ///
  /// - Parameters:
  ///   - cursor: the smallest of those that are not 0; nil when all are.
  ///   - echo: local sequence numbers that are not read.
  ///   - size: entries of one chunk at most.
  ///   - path: the sender's file.
  /// - Throws: for an entry that is too large for any device.
  init(
    _ connection: Connection, after cursor: Int64?, through end: Int64, except echo: EchoRange,
    size: Int, of path: String
  ) throws {
    (self.end, self.echo, self.size, self.path) = (end, echo, size, path)
    collected = try Graves.last(connection)
    version = try Self.version(connection)
    // First: a cursor that passes one must not be written before it was read.
    let isBehind = try connection.first(
      "SELECT 1 FROM wanted WHERE cursor < ?1", [.integer(collected)]
    ) { _ in true }
    if isBehind == true {
      try add(.graves(after: Place(), through: nil), connection)
    }
    try add(.keys(after: Place(), through: nil), connection)
    for (lower, upper) in cursor.map({ arrivals(after: $0) }) ?? [] {
      try add(.arrivals(after: lower, through: upper), connection)
    }
    // That there is nothing to read is written down too.
    if chunks.isEmpty { append(.arrivals(after: end, through: end), 0) }
  }

  /// What to read by arrival, around the echo.
  private func arrivals(after cursor: Int64) -> [(Int64, Int64)] {
    [(cursor, min(echo.lower, end)), (max(cursor, echo.upper), end)].filter { $0.0 < $0.1 }
  }

  /// Adds `whole`, in parts where it is too much for one transaction.
  private mutating func add(_ whole: Chunk, _ connection: Connection) throws {
    let (sql, arguments) = source(of: whole)
    var (rest, count, bytes, newest) = (whole, 0, 0, Int64(0))
    /// What is full ends before the next row, if there is one.
    var full: Chunk?
    try connection.measure(sql, arguments, in: path) { row, size in
      if let chunk = full {
        append(chunk, newest)
        (full, count, bytes, newest) = (nil, 0, 0, 0)
      }
      (count, bytes, newest) = (count + 1, bytes + size, max(newest, row.integer(4)))
      if count >= self.size || bytes >= Self.chunkBytes { full = try cut(&rest, at: row) }
    }
    if count > 0 { append(full ?? rest, newest) }
  }

  private mutating func append(_ chunk: Chunk, _ newest: Int64) {
    chunks.append(chunk)
    self.newest.append(HybridTimestamp(rawValue: newest))
  }

  private static func version(_ connection: Connection) throws -> Int64 {
    try connection.first("PRAGMA sender.data_version") { $0.integer(0) } ?? 0
  }

  /// The newest timestamp of a chunk, within the transaction that reads it: no device moves one
  /// ahead in its row, but another program may.
  func newest(of place: Int, _ connection: Connection) throws -> HybridTimestamp {
    guard try Self.version(connection) != version else { return newest[place] }
    let (sql, arguments) = source(of: chunks[place])
    let time = try connection.first("SELECT max(e.hlc) \(sql)", arguments) { $0.integer(0) }
    return HybridTimestamp(rawValue: time ?? 0)
  }

  /// Every cut goes forward, or planning would not end: in a damaged tree rows are out of order.
  private func cut(_ rest: inout Chunk, at row: Row) throws(KeepsakeError) -> Chunk {
    if let chunk = rest.cut(at: row) { return chunk }
    throw KeepsakeError(
      .corrupt, path: path, "its entries are out of order", cure: "restore a backup of it")
  }

  /// The FROM clause for a chunk's entries `e`, and what follows it.
  func source(of chunk: Chunk) -> (sql: String, arguments: [Cell]) {
    switch chunk {
    case .keys(let after, let through):
      // In SQLite every blob is above all text, and as text it is the same bytes.
      return (
        """
        FROM wanted AS w CROSS JOIN sender.entry AS e ON e.store = w.store
        WHERE w.cursor = 0
          AND w.store >= CAST(?1 AS TEXT)
          AND e.key > CASE w.store WHEN CAST(?1 AS TEXT) THEN CAST(?2 AS TEXT) ELSE '' END
          AND w.store <= ifnull(CAST(?3 AS TEXT), x'')
          AND e.key <= CASE w.store WHEN CAST(?3 AS TEXT) THEN CAST(?4 AS TEXT) ELSE x'' END
          AND e.lseq <= ?5 AND NOT (e.lseq > ?6 AND e.lseq <= ?7) AND \(Self.isSound)
        ORDER BY w.store, e.key
        """,
        [
          .blob(after.store), .blob(after.key),
          through.map { .blob($0.store) } ?? .null, through.map { .blob($0.key) } ?? .null,
          .integer(end), .integer(echo.lower), .integer(echo.upper),
        ]
      )
    case .arrivals(let after, let through):
      return (
        """
        FROM sender.entry AS e INDEXED BY entry_lseq CROSS JOIN wanted AS w ON w.store = e.store
        WHERE e.lseq > ?1 AND e.lseq <= ?2 AND w.cursor > 0 AND e.lseq > w.cursor
          AND \(Self.isSound)
        ORDER BY e.lseq
        """, [.integer(after), .integer(through)]
      )
    case .graves(let after, let through):
      return (
        """
        \(Graves.unread)
        WHERE (e.store, e.key) > (CAST(?1 AS TEXT), CAST(?2 AS TEXT))
          AND (?3 IS NULL OR (e.store, e.key) <= (CAST(?3 AS TEXT), CAST(?4 AS TEXT)))
          AND \(Self.isSound)
        ORDER BY e.store, e.key
        """,
        [
          .blob(after.store), .blob(after.key),
          through.map { .blob($0.store) } ?? .null, through.map { .blob($0.key) } ?? .null,
        ]
      )
    }
  }

  /// Not for rows that no device writes.
  private static let isSound =
    "e.key <> '' AND (e.tag = 0) = (e.value IS NULL) AND e.hlc >= 0 AND e.origin > 0"
}
