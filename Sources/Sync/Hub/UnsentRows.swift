// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Connection {
  /// Visits the rows after a number that a hub may lack, in the order of their numbers.
  ///
  /// - Parameter body: called until it returns false. An entry is nil if no device would read it.
  func forEachUnsent(
    _ cursor: HubCursor, after position: Int64, _ body: (Entry?, Int64) throws -> Bool
  ) throws {
    var wantsMore = true
    for number in cursor.held where number > position && wantsMore {
      try forEachRow("= ?1", number) {
        wantsMore = try body($0, $1)
        return wantsMore
      }
    }
    if wantsMore { try forEachRow("> ?1", max(cursor.sent.sequenceNumber, position), body) }
  }

  /// Visits the rows of synced stores whose numbers fit a condition, in their order.
  ///
  /// - Parameter body: called until it returns false. An entry is nil if no device would read it.
  func forEachRow(
    _ condition: String, _ number: Int64, _ body: (Entry?, Int64) throws -> Bool
  ) throws {
    try run(
      """
      SELECT sequence_number, store, key, type, value, timestamp, replica_id, \(Self.isSound)
      FROM entry AS e INDEXED BY entry_sequence
      WHERE sequence_number \(condition) AND \(Connection.isSynced("store"))
      ORDER BY sequence_number
      """, [.integer(number)]
    ) { row in
      let isReadable = row.integer(7) == 1 && row.isUTF8(1) && row.isUTF8(2) && row.isUTF8(4)
      return try body(isReadable ? row.entry(from: 1) : nil, row.integer(0))
    }
  }
}
