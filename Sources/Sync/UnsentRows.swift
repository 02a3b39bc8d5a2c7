// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// The rows of a file that a hub may lack, within an access.
struct UnsentRows {
  let connection: Connection
  let cursor: HubCursor
  /// Later rows are from the hub's future.
  let horizon: HybridTimestamp

  private static let columns = """
    sequence_number, store, key, type, value, timestamp, replica_id
    FROM entry INDEXED BY entry_sequence
    """

  /// Calls `body` with the rows after a number that are not from the hub's future, in the order of
  /// their numbers, until it returns false. An entry is nil if its text is not UTF-8, which a hub
  /// cannot store.
  func forEach(
    after position: Int64, _ body: (Entry?, Int64) throws -> Bool
  ) throws {
    var wantsMore = true
    func read(_ condition: String, _ number: Int64) throws {
      try connection.run(
        """
        SELECT \(Self.columns)
        WHERE sequence_number \(condition) AND \(Connection.isSynced("store"))
          AND timestamp <= ?2 ORDER BY sequence_number
        """, [.integer(number), .integer(horizon.rawValue)]
      ) { row in
        let isUTF8 = row.isUTF8(1) && row.isUTF8(2) && row.isUTF8(4)
        wantsMore = try body(isUTF8 ? Entry(row, from: 1) : nil, row.integer(0))
        return wantsMore
      }
    }
    for number in cursor.held where number > position && wantsMore { try read("= ?1", number) }
    if wantsMore { try read("> ?1", max(cursor.sent.sequenceNumber, position)) }
  }

  /// The numbers of the rows from the hub's future.
  func future() throws -> [Int64] {
    try numbers("timestamp > ?2")
  }

  /// The numbers of the rows from the hub's past that are too large for it. Reads one value at a
  /// time.
  ///
  /// - Parameters:
  ///   - limit: the bytes of the longest row that the hub accepts.
  ///   - isTooLarge: called with the rows that may be longer.
  func large(_ limit: Int, _ isTooLarge: (Entry) throws -> Bool) throws -> [Int64] {
    // JSON takes up to six bytes for one.
    let bytes = max(0, (limit - 16_384) / 6)
    let numbers = try numbers("timestamp <= ?2 AND length(CAST(value AS BLOB)) > \(bytes)")
    return try numbers.filter { number in
      try connection.first(
        "SELECT \(Self.columns) WHERE sequence_number = ?1", [.integer(number)]
      ) { try isTooLarge(Entry($0, from: 1)) } ?? false
    }
  }

  private func numbers(_ condition: String) throws -> [Int64] {
    func read(_ range: String, _ number: Int64) throws -> [Int64] {
      try connection.all(
        """
        SELECT sequence_number FROM entry INDEXED BY entry_sequence
        WHERE sequence_number \(range) AND \(Connection.isSynced("store"))
          AND \(condition) ORDER BY sequence_number
        """, [.integer(number), .integer(horizon.rawValue)]
      ) { $0.integer(0) }
    }
    return try cursor.held.flatMap { try read("= ?1", $0) }
      + read("> ?1", cursor.sent.sequenceNumber)
  }
}

extension Entry {
  /// The columns store, key, type, value, timestamp, replica ID.
  init(_ row: Row, from column: Int32) {
    self.init(
      Address(store: row.text(column), key: row.text(column + 1)), row.content(column + 2),
      timestamp: HybridTimestamp(rawValue: row.integer(column + 4)),
      replicaID: ReplicaID(rawValue: row.integer(column + 5)))
  }
}
