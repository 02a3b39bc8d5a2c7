// SPDX-License-Identifier: Apache-2.0
//
// The first merge with a copy: rows that both files have are found by one statement, and not read.

import KeepsakeDevice
import KeepsakeValues

extension Pull {
  /// The numbers that this pull skips: those of rows that the receiver has as they are, too. Rows
  /// from the future, and such that no device writes, are read, and so reported, all the same.
  ///
  /// Applications may write meanwhile. A row that the giver gets has a higher number, so it is
  /// read; one that the receiver gets replaces the row that both had, and wins without a conflict.
  ///
  /// - Returns: nil if more than 10,000 rows differ, or one in 64, and if the giver's numbers are
  ///   almost used up: then all are read in order.
  func equalRows() throws(KeepsakeError) -> NumberRanges? {
    // A file whose numbers are almost used up has none that could be counted on from.
    guard giver.sequenceNumber < 1 << 40 else { return nil }
    let limit = Int(min(giver.sequenceNumber / 64, 10_000))
    let tables = receiver.device.tables
    let others = try tables.attaching(giver.device) { () throws(KeepsakeError) in
      try tables.read { connection in
        try connection.all(
          """
          SELECT e.sequence_number FROM sender.entry AS e
          LEFT JOIN main.entry AS r ON r.store = e.store AND r.key = e.key
          WHERE r.timestamp IS NOT e.timestamp OR r.replica_id IS NOT e.replica_id
            OR r.type IS NOT e.type OR r.value IS NOT e.value
            OR e.timestamp > ?2 OR NOT \(Connection.isSound)
          LIMIT ?1
          """, [.integer(Int64(limit) + 1), .integer(horizon.rawValue)]
        ) { $0.integer(0) }
      }
    }
    if others.count > limit { return nil }
    var (equal, start) = (NumberRanges(), Int64(1))
    let end = giver.sequenceNumber + 1
    for number in others.filter({ $0 < end }).sorted() + [end] where number >= start {
      if number > start { equal.append(start...number - 1) }
      start = number + 1
    }
    for range in skipped.ranges where range.lowerBound >= end { equal.append(range) }
    return equal
  }
}
