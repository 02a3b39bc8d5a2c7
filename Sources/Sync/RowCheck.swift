// SPDX-License-Identifier: Apache-2.0
//
// What a merge looks at in files whose pages it does not check: the rows that it reads, each of
// which has to be in the table as well as in the index, in order, and the rows that it may replace.
// The time follows what is new.

import KeepsakeDevice
import KeepsakeValues

enum RowCheck {
  /// Entries of the index that are read before the first new one: more than a page has, so that a
  /// page in the wrong place is seen to be out of order.
  private static let before = 256

  /// Checks the rows after a number, and up to another one.
  ///
  /// - Parameter path: the file.
  /// - Throws: `KeepsakeError` if the file is damaged.
  static func check(
    _ connection: Connection, after number: Int64, through end: Int64, path: String
  ) throws {
    var last = Int64.max
    try connection.run(
      """
      SELECT e.sequence_number, typeof(e.sequence_number)
      FROM entry AS e INDEXED BY entry_sequence
      WHERE e.sequence_number <= ?1 ORDER BY e.sequence_number DESC LIMIT \(before)
      """, [.integer(number)]
    ) { row in
      guard row.text(1) == "integer", row.integer(0) < last else { throw damaged(path) }
      last = row.integer(0)
      return true
    }
    last = number
    try connection.run(
      """
      SELECT e.sequence_number, t.sequence_number
      FROM entry AS e INDEXED BY entry_sequence
      LEFT JOIN entry AS t ON t.store = e.store AND t.key = e.key
      WHERE e.sequence_number > ?1 AND e.sequence_number <= ?2 ORDER BY e.sequence_number
      """, [.integer(number), .integer(end)]
    ) { row in
      let number = row.integer(0)
      guard number > last, row.cell(1) == .integer(number) else { throw damaged(path) }
      last = number
      return true
    }
  }

  /// Checks the rows that those in `incoming` may replace.
  ///
  /// - Throws: `KeepsakeError` if the file is damaged.
  static func checkReplaced(_ connection: Connection, path: String) throws {
    let isDamaged = try connection.first(
      """
      SELECT 1 FROM incoming AS i
      CROSS JOIN main.entry AS m ON m.store = i.store AND m.key = i.key
      LEFT JOIN main.entry AS x INDEXED BY entry_sequence ON x.sequence_number = m.sequence_number
      WHERE x.key IS NOT m.key OR x.store IS NOT m.store LIMIT 1
      """
    ) { _ in true }
    if isDamaged == true { throw damaged(path) }
  }

  private static func damaged(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .corrupt, path: path, "the file is damaged (an index does not fit its table)",
      cure: "restore a backup of it")
  }
}
