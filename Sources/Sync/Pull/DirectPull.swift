// SPDX-License-Identifier: Apache-2.0
//
// The first merge of many rows into a file that has none of these stores: no key is in both files,
// so the rows are inserted in the order of their keys, which is that of both files. What is written
// to the giver meanwhile gets higher numbers; the pages that follow have it. If the receiver is
// written or observed meanwhile, they have everything: rows that are there already change nothing.

import KeepsakeDevice
import KeepsakeValues

struct DirectPull {
  /// Bytes of one transaction, on average.
  private static let transactionBytes: Int64 = 1 << 24

  private let pull: Pull
  /// The stores, as a JSON array.
  private let stores: String
  /// How many rows the giver has in them, and their latest timestamp.
  private let (count, newest): (Int64, Int64)
  /// Rows of one transaction.
  private let rows: Int64

  /// - Returns: nil if all rows have to be read page by page.
  init?(_ pull: Pull) throws(KeepsakeError) {
    let giver = pull.giver
    guard giver.sequenceNumber >= Pull.many, !pull.receiver.device.hasObservers,
      // A file whose numbers are almost used up must not use up the receiver's.
      giver.sequenceNumber < 1 << 40,
      pull.stores.allSatisfy({
        StoreName.isSynced($0.string) && !pull.receiver.stores.contains($0)
          && !EntrySize.isTooLarge(key: $0.string.utf8.count, value: 0)
          // SQLite ends a JSON string at the first; text that is not UTF-8 is read as the other.
          && !$0.string.unicodeScalars.contains { $0 == "\0" || $0 == "\u{FFFD}" }
      })
    else { return nil }
    let stores = JSON.array(pull.stores.map { .string($0.string) }).text()
    var (count, newest, isSound): (Int64, Int64, Bool) = (0, 0, true)
    try giver.device.tables.read { connection in
      try connection.run(
        """
        SELECT key, value, timestamp, \(Connection.isSound) FROM entry AS e
        WHERE store IN (SELECT value FROM json_each(?1)) AND +sequence_number <= ?2
        """, [.text(stores), .integer(giver.sequenceNumber)]
      ) { row in
        count += 1
        newest = max(newest, row.integer(2))
        isSound =
          row.integer(3) == 1 && row.isUTF8(0) && row.isUTF8(1)
          && !EntrySize.isTooLarge(key: row.byteCount(0), value: row.byteCount(1))
        return isSound
      }
    }
    guard count >= Pull.many, isSound, newest <= pull.horizon.rawValue else { return nil }
    let average = try giver.device.tables.access { try $0.databaseSize() } / count + 1
    (self.pull, self.stores, self.count, self.newest) = (pull, stores, count, newest)
    rows = max(1, min(Int64(pull.options.chunkSize), Self.transactionBytes / average))
  }

  /// - Returns: the number after which the rows are read page by page.
  func run(_ result: inout PullResult) throws(KeepsakeError) -> Int64 {
    try pull.receiver.device.tables.attaching(pull.giver.device) { () throws(KeepsakeError) in
      var number = pull.receiver.sequenceNumber
      while result.received < count {
        guard let after = try write(after: number, result), after.received > result.received else {
          // A damaged file may have hidden some: the pages find out.
          return 0
        }
        number += pull.giver.sequenceNumber
        result = after
        pull.report(result, fraction: Double(result.received) / Double(count))
        try pull.hooks.step(.page)
      }
      return pull.giver.sequenceNumber
    }
  }

  /// One transaction.
  ///
  /// - Parameter number: the receiver's last one.
  /// - Returns: nil if something else has written, or has to be sent each change.
  private func write(
    after number: Int64, _ before: PullResult
  ) throws(KeepsakeError) -> PullResult? {
    try pull.receiver.device.tables.write { connection in
      var (result, replica) = (before, try ReplicaState(connection))
      guard replica.sequenceNumber == number, !pull.receiver.device.hasObservers else {
        return (nil, [])
      }
      let inserted = try insert(connection, after: number)
      // A file that is read as immutable may have changed.
      try pull.giver.device.tables.checkUnchanged()
      try keepChanges(connection, after: number, &result)
      replica.sequenceNumber = number + pull.giver.sequenceNumber
      replica.last = max(replica.last, HybridTimestamp(rawValue: newest))
      result.note(inserted: inserted, as: number + 1...replica.sequenceNumber)
      try replica.save(connection)
      return (result, [])
    }
  }

  /// Inserts the rows that come after the last one that is there.
  ///
  /// - Returns: how many.
  private func insert(_ connection: Connection, after number: Int64) throws -> Int {
    try connection.run(
      """
      INSERT INTO main.entry \(EntryTable.columns)
      SELECT e.store, e.key, e.type, e.value, e.timestamp, e.replica_id, ?4 + e.sequence_number
      FROM sender.entry AS e
      WHERE (e.store, e.key) > (
          SELECT * FROM (
            SELECT store, key FROM main.entry WHERE store IN (SELECT value FROM json_each(?1))
            ORDER BY store DESC, key DESC LIMIT 1)
          UNION ALL SELECT '', '' LIMIT 1)
        AND +e.store IN (SELECT value FROM json_each(?1)) AND e.sequence_number <= ?2
      ORDER BY e.store, e.key LIMIT ?3
      """,
      [
        .text(stores), .integer(pull.giver.sequenceNumber), .integer(rows), .integer(number),
      ])
    return connection.changes
  }

  private func keepChanges(
    _ connection: Connection, after number: Int64, _ result: inout PullResult
  ) throws {
    if result.hasMoreChanges { return }
    let reason: SettingChange.Reason = try connection.hasMet() ? .merge : .firstMerge
    try connection.run(
      """
      SELECT store, key, type, value, timestamp, replica_id
      FROM entry INDEXED BY entry_sequence WHERE sequence_number > ?1 ORDER BY sequence_number
      """, [.integer(number)]
    ) { row in
      let entry = row.entry(from: 0)
      guard !entry.content.isTombstone else { return true }
      let change = SettingChange(entry, from: .tombstone, reason)
      return result.keep(change, size: entry.content.cell.byteCount)
    }
  }
}
