// SPDX-License-Identifier: Apache-2.0
//
// The first merge of many rows into a file that has none of these stores: no key can meet another,
// so the rows are inserted in the order of their keys, which is that of both files. What is written
// to the giver meanwhile gets higher numbers; the pages that follow have it. If the receiver is
// written or observed meanwhile, they have everything: rows that are there already change nothing.

import KeepsakeDevice
import KeepsakeValues

struct DirectPull {
  /// Rows for which it is worth it.
  private static let minimum: Int64 = 1_000
  /// Bytes of one transaction, on average.
  private static let transactionBytes: Int64 = 1 << 24

  private let pull: Pull
  let range: GiverRange
  /// The giver's last number before.
  private let last: Int64
  private let survey: Survey
  /// Rows of one transaction.
  private let rows: Int64

  /// What the giver has in these stores.
  private struct Survey {
    var count: Int64 = 0
    var newest: Int64 = 0
    /// Whether a device may have written each row.
    var isSound = true
  }

  /// - Returns: nil if all rows have to be read page by page.
  init?(_ pull: Pull) throws(KeepsakeError) {
    let known = pull.receiverSide.stores
    guard pull.giverSide.sequenceNumber >= Self.minimum, !pull.receiver.hasObservers,
      pull.stores.allSatisfy({ StoreName.isSynced($0.string) && !known.contains($0) })
    else { return nil }
    self.pull = pull
    (range, last, survey) = try pull.giver.core.read { connection in
      var survey = Survey()
      for store in pull.stores where survey.isSound {
        try connection.run(
          "SELECT key, value, timestamp, \(GiverRange.isSound) FROM entry AS e WHERE store = ?1",
          [.text(store.string)]
        ) { row in
          let longestName = max(row.byteCount(0), store.string.utf8.count)
          survey.count += 1
          survey.newest = max(survey.newest, row.integer(2))
          survey.isSound =
            row.integer(3) == 1 && row.isUTF8(0) && row.isUTF8(1)
            && !EntrySize.isTooLarge(key: longestName, value: row.byteCount(1))
          return survey.isSound
        }
      }
      let giver = try GiverState(connection, pull, connection.marks.state().mark)
      return (try GiverRange(pull, connection, giver), giver.sequenceNumber, survey)
    }
    // A file whose numbers are almost used up must not use up the receiver's.
    guard survey.count >= Self.minimum, survey.isSound,
      survey.newest <= pull.horizon.rawValue, last < 1 << 40
    else { return nil }
    let average = try pull.giver.core.storage.databaseSize() / survey.count + 1
    rows = max(1, min(Int64(pull.options.chunkSize), Self.transactionBytes / average))
  }

  /// - Returns: the number after which the rows are read page by page.
  func run(_ result: inout PullResult) throws(KeepsakeError) -> Int64 {
    let receiver = pull.receiver.core
    return try receiver.withSender(pull.giver.core) { () throws(KeepsakeError) in
      try receiver.access { try $0.run("PRAGMA main.cache_size = -32768") }
      defer {
        // Fails only if the connection is broken, and then its next use says so.
        Result { () throws(KeepsakeError) in
          try receiver.access { try $0.run("PRAGMA main.cache_size = -2000") }
        }.discardFailure()
      }
      var number = pull.receiverSide.sequenceNumber
      while result.received < survey.count {
        guard let written = try write(after: number, result) else { return 0 }
        let isDone = written.result.received == result.received
        (result, number) = written
        if isDone { break }
        pull.report(result, Double(result.received) / Double(survey.count))
        try pull.hooks.step(.page)
      }
      // A damaged file may have hidden some: the pages find out.
      return result.received == survey.count ? last : 0
    }
  }

  /// One transaction.
  ///
  /// - Parameter number: the receiver's last one.
  /// - Returns: also the receiver's last number now; nil if something else has written, or has to
  ///   be told of each change.
  private func write(
    after number: Int64, _ before: PullResult
  ) throws(KeepsakeError) -> (result: PullResult, number: Int64)? {
    try pull.receiver.core.write { connection in
      var (result, replica) = (before, try ReplicaState(connection))
      guard replica.sequenceNumber == number, !pull.receiver.hasObservers else {
        return (nil, [])
      }
      let count = try insert(connection, after: number)
      // A file that is read as immutable may have changed.
      try pull.giver.core.storage.still?.check()
      try keepChanges(connection, after: number, &result)
      result.note(inserted: count, as: number + 1...number + last)
      replica.sequenceNumber = number + last
      replica.last = max(replica.last, HybridTimestamp(rawValue: survey.newest))
      try replica.save(connection)
      return ((result, replica.sequenceNumber), [])
    }
  }

  /// Inserts the rows that come after the last one that is there.
  ///
  /// - Returns: how many.
  private func insert(_ connection: Connection, after number: Int64) throws -> Int {
    let stores = JSON.array(pull.stores.map { .string($0.string) }).text()
    try connection.run(
      """
      INSERT INTO main.entry
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
        .text(stores), .integer(last), .integer(rows), .integer(number),
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
      let entry = Entry(row, from: 0)
      guard !entry.content.isTombstone else { return true }
      let change = SettingChange(
        store: entry.address.store.string, key: entry.address.key.string, from: .tombstone,
        to: entry.content, writer: entry.replicaID, timestamp: entry.timestamp, reason: reason)
      return result.keep(change, entry.content.cell.byteCount)
    }
  }
}
