// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Staging {
  /// What a hub has answered, as if it were a file.
  init(_ answer: HubAnswer, _ page: HubAnswer.Page) {
    sender = answer.hub
    lseq = answer.seq
    forgotten = answer.forgotten
    peers = answer.stores.map { ($0.key, $0.value.peer) }
    (hasMore, seen) = (page.hasMore, page.seen)
    // A file that knows of a revocation would have its rows dated so.
    rows = page.rows.map { row in
      var row = row
      let limit = answer.revocations[row.entry.origin] ?? row.entry.timestamp
      row.entry.timestamp = min(row.entry.timestamp, limit)
      return row
    }
  }
}

extension HubAnswer.Page {
  init() { self.init(rows: [], through: 0, hasMore: false, seen: []) }

  var bytes: Int { rows.bytes }
}

extension [HubAnswer.Row] {
  /// Of keys and values.
  var bytes: Int {
    reduce(0) { $0 + $1.entry.address.key.string.utf8.count + $1.entry.content.cell.byteCount }
  }
}
