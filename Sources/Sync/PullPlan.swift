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
  private(set) var chunks: [Chunk] = []
  /// The newest timestamp of each chunk when it was measured.
  private(set) var newest: [HybridTimestamp] = []
  /// The last local sequence number that is read.
  let end: Int64
  /// The sender's last collection; another one makes the plan void.
  let collected: Int64
  private let echo: EchoRange
  private let size: Int
  private let path: String

  /// Measures what is to be read and was not measured before. Needs `Connection.want`.
  ///
  /// - Parameters:
  ///   - measurement: what the check of the sender's file has found; nil where there was none.
  ///   - cursor: the smallest of those that are not 0; nil when all are.
  ///   - echo: local sequence numbers that are not read.
  ///   - size: entries of one chunk at most.
  ///   - path: the sender's file.
  /// - Throws: for an entry that is too large for any device.
  init(
    _ connection: Connection, after cursor: Int64?, through end: Int64, except echo: EchoRange,
    measurement: Measurement?, size: Int, of path: String
  ) throws {
    (self.end, self.echo, self.size, self.path) = (end, echo, size, path)
    collected = try Graves.last(connection)
    // First: a cursor that passes one must not be written before it was read.
    let isBehind = try connection.first(
      "SELECT 1 FROM wanted WHERE cursor < ?1", [.integer(collected)]
    ) { _ in true }
    if isBehind == true {
      try add(.graves(after: Place(), through: nil), connection)
    }
    if cursor == nil, let measurement, measurement.covers(end, except: echo) {
      append(measurement.chunks)
    } else {
      try add(.keys(after: Place(), through: nil), connection)
    }
    for (lower, upper) in cursor.map({ arrivals(after: $0) }) ?? [] {
      try add(.arrivals(after: lower, through: upper), connection)
    }
    // That there is nothing to read is written down too.
    if chunks.isEmpty {
      chunks = [.arrivals(after: end, through: end)]
      newest = [.zero]
    }
  }

  /// What to read by arrival, around the echo.
  private func arrivals(after cursor: Int64) -> [(Int64, Int64)] {
    [(cursor, min(echo.lower, end)), (max(cursor, echo.upper), end)].filter { $0.0 < $0.1 }
  }

  /// Adds `whole`, in parts where it is too much for one transaction.
  private mutating func add(_ whole: Chunk, _ connection: Connection) throws {
    let (sql, arguments) = source(of: whole)
    var parts = ChunkCutter(whole, size: size, path: path)
    try connection.measure(sql, arguments, in: path) { try parts.add($0, $1) }
    append(parts.all())
  }

  private mutating func append(_ parts: [ChunkCutter.Part]) {
    chunks += parts.map(\.chunk)
    newest += parts.map(\.newest)
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
  static let isSound =
    "e.key <> '' AND (e.tag = 0) = (e.value IS NULL) AND e.hlc >= 0 AND e.origin > 0"
}
