// SPDX-License-Identifier: Apache-2.0

import KeepsakeTransfer
package import KeepsakeValues

/// What an export prints: all rows are read before the first is written, the oldest write comes
/// first, and `import` reads them.
package struct ExportedRows {
  private var rows = SortedSpool()

  package init() {}

  /// - Throws: `KeepsakeError` when the system's temporary folder is full, or cannot be written.
  package mutating func append(_ entry: Entry) throws {
    try rows.append(SpooledRow(entry))
    ProgressLine.count(rows.count, "read")
  }

  /// Prints them; there are none afterwards.
  package mutating func print(to output: Output) throws {
    let count = rows.count
    try output.printEach { write in
      var written = 0
      try rows.forEach { row in
        write(try TransferLine.json(row.entry))
        written += 1
        ProgressLine.count(written, of: count, "written")
      }
    }
  }
}

extension SpooledRow {
  /// Ranked by the time of its write.
  fileprivate init(_ entry: Entry) {
    self.init(
      store: entry.address.store.string, key: entry.address.key.string, content: entry.content,
      rank: Rank(first: entry.timestamp.rawValue, second: entry.origin.rawValue))
  }

  fileprivate var entry: Entry {
    Entry(
      Address(store: store, key: key), content,
      timestamp: HybridTimestamp(rawValue: rank.first), origin: ReplicaID(rawValue: rank.second))
  }
}
