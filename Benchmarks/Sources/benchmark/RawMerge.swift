// SPDX-License-Identifier: Apache-2.0
//
// What a merge of two files has to read and to write, without any of its checks: the same
// transactions by prepared statements of SQLite's C API.

import CSQLite

final class RawMerge {
  private final class Side {
    let database: RawDatabase
    let statements: [RawStatement]
    let begin, commit, changed, put, mark, own, read, vector: RawStatement

    init(_ path: String) throws {
      let database = try RawDatabase(path)
      self.database = database
      func prepare(_ sql: String) throws -> RawStatement { try database.prepare(sql) }
      statements = try [
        "SELECT id, timestamp, sequence_number FROM replica",
        "SELECT max(sequence_number) FROM entry",
        "SELECT * FROM mark ORDER BY sequence_number DESC LIMIT 1", "SELECT * FROM peer",
        "SELECT * FROM seen", "SELECT * FROM forgotten",
      ].map(prepare)
      begin = try prepare("BEGIN IMMEDIATE")
      commit = try prepare("COMMIT")
      changed = try prepare(
        """
        SELECT store, key, type, value, timestamp, replica_id FROM entry INDEXED BY entry_sequence
        WHERE sequence_number > ?1 AND (store = 'cloud' OR store GLOB 'cloud:*')
        ORDER BY sequence_number
        """)
      put = try prepare(
        """
        INSERT INTO entry (store, key, type, value, timestamp, replica_id, sequence_number)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (store, key) DO UPDATE SET type = excluded.type, value = excluded.value,
          timestamp = excluded.timestamp, replica_id = excluded.replica_id,
          sequence_number = excluded.sequence_number
        WHERE (excluded.timestamp, excluded.replica_id) > (entry.timestamp, entry.replica_id)
        """)
      mark = try prepare("INSERT OR REPLACE INTO mark VALUES (?1, ?1, ?1)")
      own = try prepare("UPDATE peer SET own_number = ?1, own_bits = ?1")
      read = try prepare("UPDATE peer SET cursor_number = ?1, cursor_bits = ?1")
      vector = try prepare("UPDATE seen SET timestamp = timestamp + ?1")
    }

    var last: Int64 {
      get throws { try database.number("SELECT max(sequence_number) FROM entry") }
    }

    func run(_ statement: RawStatement, _ number: Int64) throws {
      statement.bind(1, number)
      try statement.run()
    }
  }

  private let first, second: Side
  private var done: (first: Int64, second: Int64)

  init(_ paths: [String]) throws {
    (first, second) = (try Side(paths[0]), try Side(paths[1]))
    done = (try first.last, try second.last)
  }

  /// Writes keys of the first file again.
  func change(_ keys: [String], _ value: String) throws {
    let number = done.first
    try first.begin.run()
    for (offset, key) in keys.enumerated() {
      try first.database.execute(
        """
        UPDATE entry SET value = '\(value)', timestamp = timestamp + 65536,
          sequence_number = \(number + 1 + Int64(offset)) WHERE store = 'cloud' AND key = '\(key)'
        """)
    }
    try first.commit.run()
  }

  /// - Parameter count: how many entries of the first file have changed.
  func merge(_ count: Int) throws {
    for side in [first, second] { for statement in side.statements { try statement.run() } }
    first.changed.bind(1, done.first)
    second.changed.bind(1, done.second)
    try second.changed.run()
    guard count > 0 else { return try first.changed.run() }
    let mark = done.first + Int64(count)
    try first.begin.run()
    try first.run(first.mark, mark)
    try first.run(first.own, mark)
    try first.commit.run()
    try second.begin.run()
    var number = done.second
    while try first.changed.hasRow() {
      number += 1
      for column: Int32 in 0..<6 { second.put.bind(column + 1, columnOf: first.changed) }
      second.put.bind(7, number)
      try second.put.run()
    }
    first.changed.reset()
    try second.run(second.mark, number)
    try second.run(second.own, number)
    try second.run(second.read, mark)
    try second.run(second.vector, 1)
    try second.commit.run()
    try first.run(first.read, number)
    done = (mark, number)
  }
}

extension RawStatement {
  fileprivate func hasRow() throws -> Bool {
    let code = sqlite3_step(handle)
    try database.check(code)
    return code == SQLITE_ROW
  }

  /// The column before the place, as it is.
  fileprivate func bind(_ place: Int32, columnOf other: RawStatement) {
    sqlite3_bind_value(handle, place, sqlite3_column_value(other.handle, place - 1))
  }
}
