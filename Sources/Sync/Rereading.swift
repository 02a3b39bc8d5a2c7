// SPDX-License-Identifier: Apache-2.0
//
// On which device conflicts are found: on the one that reads first. The other takes rows only when
// that one has read everything of it, so what loses there has been seen and judged before. After a
// write in between its transaction is rolled back, and the first reads again.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// Reads into a device. Where conflicts are to be found on the other one, that one reads again
  /// what was written here since it has: so long, and often enough beside all but the busiest
  /// writers.
  mutating func pull(_ from: Int, _ into: Int) throws(KeepsakeError) {
    /// How often that is.
    let rereadings = 16
    let finder = exchanges.count == 1 && !options.firstReadsFirst ? 1 : 0
    for attempt in 0...rereadings {
      do throws(KeepsakeError) {
        return try pullOnce(from, into, needsReader: into != finder && attempt < rereadings)
      } catch {
        guard error.cause is MergeRetry.Unread else { throw error }
        try pullOnce(into, from, needsReader: false)
      }
    }
  }

  private mutating func pullOnce(
    _ from: Int, _ into: Int, needsReader: Bool
  ) throws(KeepsakeError) {
    let index = max(from, into) - 1
    var result = Pull.Result(changeLimit: options.changeLimit - report.changes.count)
    defer {
      report.add(result, from: from, into: into)
      if into == 0, result.changed > 0 {
        for other in exchanges.indices where other != index {
          exchanges[other].expectNews(at: other + 1)
        }
      }
    }
    try exchanges[index].pull(
      into: into, options: options, needsReader: needsReader, &result, using: &generator)
  }
}

extension Pull {
  /// Whether the receiver has entries that the sender has not read, other than those of this pull.
  func hasUnread(_ connection: Connection, except written: EchoRange) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM main.entry AS e INDEXED BY entry_lseq CROSS JOIN wanted AS w
        ON w.store = e.store
      LEFT JOIN sender.peer AS p
        ON p.peer = (SELECT id FROM main.replica) AND p.store = e.store
      WHERE e.lseq > max(?1, (
          SELECT ifnull(min(ifnull(k.cursor, 0)), 0) FROM wanted AS v LEFT JOIN sender.peer AS k
            ON k.peer = (SELECT id FROM main.replica) AND k.store = v.store))
        AND e.lseq > ifnull(p.cursor, 0) LIMIT 1
      """, [.integer(written.upper)]
    ) { _ in true } ?? false
  }
}
