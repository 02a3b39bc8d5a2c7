// SPDX-License-Identifier: Apache-2.0
//
// In which transactions a pull reads what the receiver lacks, so that none takes more than so many
// entries and so many bytes.
//
// A store that was never read is read whole, by key: that is how it lies in both files, and jumping
// through them by arrival takes several times as long. Its cursor is only written when all of it
// was read; a pull that was interrupted starts again, and what it reads again changes nothing. The
// other stores are read on from their cursors, by arrival.
//
// The plan holds although the sender goes on writing: what it writes takes an arrival number beyond
// `end`, so entries only leave what is planned, and are read the next time.

import KeepsakeDevice
import KeepsakeValues

struct PullPlan {
  /// What one transaction reads.
  enum Chunk: Equatable {
    /// Of stores that were never read, from after one address up to another or to the end.
    case keys(after: Address, through: Address?)
    /// Of the other stores, from after one arrival number up to another.
    case arrivals(after: Int64, through: Int64)
  }

  /// Bytes of keys and values after which no transaction takes another entry: 16 MiB.
  static let chunkBytes: Int64 = 1 << 24

  private(set) var chunks: [Chunk] = []
  /// The last arrival number that is read.
  let end: Int64
  private let echo: EchoRange

  /// Measures all that is to be read. Needs `Connection.want`.
  ///
  /// - Parameters:
  ///   - cursor: the smallest of those that are not 0; nil when all are.
  ///   - echo: arrival numbers that are not read.
  ///   - size: entries of one chunk at most.
  ///   - path: the sender's file.
  /// - Throws: for an entry that is too large for any device.
  init(
    _ connection: Connection, after cursor: Int64?, through end: Int64, except echo: EchoRange,
    size: Int, of path: String
  ) throws {
    self.end = end
    self.echo = echo
    var meter = Meter(size: size)

    var last = Address(store: "", key: "")
    let keys = source(of: .keys(after: last, through: nil))
    try connection.measure(keys.sql, keys.arguments, of: path) { row, bytes in
      guard meter.isFull(adding: bytes) else { return }
      let next = Address(store: row.text(1), key: row.text(2))
      chunks.append(.keys(after: last, through: next))
      last = next
    }
    if meter.takesRest() { chunks.append(.keys(after: last, through: nil)) }

    for (lower, upper) in cursor.map({ arrivals(after: $0) }) ?? [] {
      var last = lower
      let arrivals = source(of: .arrivals(after: lower, through: upper))
      try connection.measure(arrivals.sql, arrivals.arguments, of: path) { row, bytes in
        guard meter.isFull(adding: bytes) else { return }
        chunks.append(.arrivals(after: last, through: row.integer(0)))
        last = row.integer(0)
      }
      if meter.takesRest() { chunks.append(.arrivals(after: last, through: upper)) }
    }
    // That there is nothing to read is written down too.
    if chunks.isEmpty { chunks.append(.arrivals(after: end, through: end)) }
  }

  /// What to read by arrival, around the echo.
  private func arrivals(after cursor: Int64) -> [(Int64, Int64)] {
    [(cursor, min(echo.lower, end)), (max(cursor, echo.upper), end)].filter { $0.0 < $0.1 }
  }

  private struct Meter {
    let size: Int
    private var count = 0
    private var bytes: Int64 = 0

    init(size: Int) { self.size = size }

    /// Whether this entry is the last of its chunk.
    mutating func isFull(adding bytes: Int64) -> Bool {
      count += 1
      self.bytes += bytes
      guard count >= size || self.bytes >= PullPlan.chunkBytes else { return false }
      (count, self.bytes) = (0, 0)
      return true
    }

    /// Whether there are entries since the last full chunk.
    mutating func takesRest() -> Bool {
      defer { (count, bytes) = (0, 0) }
      return count > 0
    }
  }

  /// The FROM clause for a chunk's entries `e`, and what follows it.
  func source(of chunk: Chunk) -> (sql: String, arguments: [Cell]) {
    switch chunk {
    case .keys(let after, let through):
      // In SQLite every blob is above all text.
      let top = Cell.blob(.init())
      return (
        """
        FROM wanted AS w CROSS JOIN sender.entry AS e ON e.store = w.store
        WHERE w.cursor = 0
          AND w.store >= ?1 AND e.key > CASE w.store WHEN ?1 THEN ?2 ELSE '' END
          AND w.store <= ?3 AND e.key <= CASE w.store WHEN ?3 THEN ?4 ELSE x'' END
          AND e.lseq <= ?5 AND NOT (e.lseq > ?6 AND e.lseq <= ?7) AND \(Self.isSound)
        ORDER BY w.store, e.key
        """,
        [
          .text(after.store.string), .text(after.key.string),
          through.map { .text($0.store.string) } ?? top,
          through.map { .text($0.key.string) } ?? top,
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
    }
  }

  private static let isSound = "e.key <> '' AND (e.tag = 0) = (e.value IS NULL)"
}
