// SPDX-License-Identifier: Apache-2.0
//
// What a merge looks at in files whose pages it does not check again: the rows that it is going to
// read, where each has to be in the table as well as in the index, in order, and the rows that it
// may replace. The time follows what is new.

import KeepsakeDevice
import KeepsakeValues

struct RowCheck {
  /// Entries of the index that are read before the first new one: more than a page has, so that a
  /// page in the wrong place is seen to be out of order.
  private static let before = 256

  let connection: Connection
  /// The file that is read.
  let sender: String
  /// The file that is written.
  let receiver: String

  /// - Parameter cursor: what the sender has after it is about to be read.
  /// - Throws: `KeepsakeError` that names the damaged file.
  func run(after cursor: Int64) throws {
    var last = Int64.max
    try connection.run(
      """
      SELECT e.lseq, typeof(e.lseq) FROM sender.entry AS e INDEXED BY entry_lseq
      WHERE e.lseq <= ?1 ORDER BY e.lseq DESC LIMIT \(Self.before)
      """, [.integer(cursor)]
    ) { row in
      guard row.text(1) == "integer", row.integer(0) < last else { throw Self.damaged(sender) }
      last = row.integer(0)
      return true
    }
    last = cursor
    try connection.run(
      """
      SELECT e.lseq, t.lseq, m.lseq, x.key IS m.key AND x.store IS m.store
      FROM sender.entry AS e INDEXED BY entry_lseq
      LEFT JOIN sender.entry AS t ON t.store = e.store AND t.key = e.key
      LEFT JOIN main.entry AS m ON m.store = e.store AND m.key = e.key
      LEFT JOIN main.entry AS x INDEXED BY entry_lseq ON x.lseq = m.lseq
      WHERE e.lseq > ?1 ORDER BY e.lseq
      """, [.integer(cursor)]
    ) { row in
      let lseq = row.integer(0)
      guard lseq > last, row.cell(1) == .integer(lseq) else { throw Self.damaged(sender) }
      guard row.integer(3) == 1 else { throw Self.damaged(receiver) }
      last = lseq
      return true
    }
  }

  private static func damaged(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .corrupt, path: path, "the file is damaged (an index does not fit its table)",
      cure: "restore a backup of it")
  }
}
