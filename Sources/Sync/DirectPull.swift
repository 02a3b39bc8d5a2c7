// SPDX-License-Identifier: Apache-2.0
//
// A pull of many rows into a file that has none of these stores: no key can meet another, so the
// rows are inserted in the order of their keys, which is that of both files. It ends if either file
// is written or observed meanwhile; then the rows are read page by page, and those that are there
// already change nothing.

import Foundation
import KeepsakeDevice
import KeepsakeValues

struct DirectPull {
  /// Rows for which it is worth it.
  private static let minimum = 1_000
  /// Bytes of one transaction, on average.
  private static let chunkBytes: Int64 = 1 << 24

  private let request: PullRequest
  private let giver: GiverState
  /// The stores that have rows.
  private var stores: [ByteText] = []
  private var count: Int64 = 0
  private var newest: Int64 = 0
  /// Rows of one transaction.
  private var chunkSize: Int64 = 1

  /// - Returns: nil if the rows have to be read page by page.
  init?(_ request: PullRequest, _ range: GiverRange) throws(KeepsakeError) {
    guard range.isWhole, !request.checksRows, !request.receiver.hasObservers,
      try request.receiver.core.read({ try $0.isEmpty(in: "main", request.stores) }),
      try request.giver.core.read({ try $0.hasRows(Self.minimum) })
    else { return nil }
    if request.marksGiver { try request.markGiver() }
    self.request = request
    giver = try request.giver.core.read {
      try GiverState(
        $0, request.stores, receiver: request.receiverID, endsAtMark: request.marksGiver)
    }
    let bytes = try request.giver.core.storage.databaseSize()
    guard giver.isMarked || !request.marksGiver, giver.id == range.giverID,
      try request.giver.core.read({ try self.survey($0) }), count >= Self.minimum
    else { return nil }
    chunkSize = max(1, min(Int64(request.options.chunkSize), Self.chunkBytes / (bytes / count + 1)))
  }

  /// - Returns: false if not all rows can be applied, or if the giver was written meanwhile.
  private mutating func survey(_ connection: Connection) throws -> Bool {
    for store in request.stores {
      let found = try connection.first(
        """
        SELECT count(*), ifnull(max(timestamp), 0), ifnull(sum(NOT \(GiverRange.isSound)), 0)
        FROM entry AS e WHERE store = ?1
        """, [.text(store.string)]
      ) { (count: $0.integer(0), newest: $0.integer(1), odd: $0.integer(2)) }
      guard let found, found.odd == 0 else { return false }
      if found.count > 0 { stores.append(store) }
      (count, newest) = (count + found.count, max(newest, found.newest))
    }
    // A file whose numbers are almost used up must not use up the receiver's.
    let number = try ReplicaState(connection).sequenceNumber
    return newest <= request.horizon.rawValue && number == giver.sequenceNumber
      && number < 1 << 40
  }

  /// Where a chunk begins: after a key of a store.
  private struct Place {
    var store = 0
    var key = Data()
  }

  /// - Returns: nil if something else was written meanwhile.
  func run<Value>(
    _ result: inout PullResult, finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> Value? {
    let receiver = request.receiver.core
    return try receiver.withSender(request.giver.core) { () throws(KeepsakeError) in
      try receiver.access { try $0.run("PRAGMA main.cache_size = -32768") }
      defer {
        // Fails only if the connection is broken, and then its next use says so.
        Result { () throws(KeepsakeError) in
          try receiver.access { try $0.run("PRAGMA main.cache_size = -2000") }
        }.discardFailure()
      }
      var (place, number) = (Optional(Place()), Int64?.none)
      while let from = place {
        guard let chunk = try write(from, number, result, finish) else { return nil }
        (result, number, place) = (chunk.result, chunk.number, chunk.next)
        request.report(result, Double(result.received) / Double(count))
        if let value = chunk.value { return value }
        try request.hooks.step(.page)
      }
      return nil
    }
  }

  private struct Chunk<Value> {
    var result: PullResult
    /// The receiver's last sequence number.
    var number: Int64 = 0
    var next: Place?
    var value: Value?
  }

  /// One transaction.
  private func write<Value>(
    _ place: Place, _ number: Int64?, _ before: PullResult,
    _ finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> Chunk<Value>? {
    try request.receiver.core.write { connection -> (Chunk<Value>?, [SettingChange]) in
      guard try isUndisturbed(connection, number) else { return (nil, []) }
      var (chunk, replica) = (Chunk<Value>(result: before), try ReplicaState(connection))
      chunk.next = try insert(connection, place, &replica, &chunk.result)
      // A file that is read as immutable may have changed.
      try request.giver.core.storage.still?.check()
      if chunk.next == nil {
        guard chunk.result.received == count else { throw request.isDisturbed }
        try request.noteVectors(giver.vectors, connection, &replica, chunk.result)
      }
      try replica.save(connection)
      if chunk.next == nil { chunk.value = try finish(connection, chunk.result, giver) }
      chunk.number = replica.sequenceNumber
      return (chunk, [])
    }
  }

  /// - Parameter number: the receiver's, after the last chunk; nil before the first one.
  private func isUndisturbed(_ connection: Connection, _ number: Int64?) throws -> Bool {
    // An observer that was added meanwhile is sent each change of the rest.
    if request.receiver.hasObservers { return false }
    let now = try ReplicaState(connection, in: "sender")
    guard now.id == giver.id, now.sequenceNumber == giver.sequenceNumber else { return false }
    if let number { return try ReplicaState(connection).sequenceNumber == number }
    return try connection.isEmpty(in: "main", stores)
  }

  /// Inserts one chunk.
  ///
  /// - Returns: where the next one begins; nil after the last one.
  private func insert(
    _ connection: Connection, _ place: Place, _ replica: inout ReplicaState,
    _ result: inout PullResult
  ) throws -> Place? {
    let store = Cell.text(stores[place.store].string)
    let upper = try connection.first(
      """
      SELECT key FROM sender.entry WHERE store = ?1 AND key > CAST(?2 AS TEXT)
      ORDER BY key LIMIT 1 OFFSET ?3
      """, [store, .blob(place.key), .integer(chunkSize - 1)]
    ) { $0.bytes(0) }
    let source = """
      FROM sender.entry AS e WHERE e.store = ?1 AND e.key > CAST(?2 AS TEXT)
        AND (?3 IS NULL OR e.key <= CAST(?3 AS TEXT)) ORDER BY e.key
      """
    let chunk: [Cell] = [store, .blob(place.key), upper.map { .blob($0) } ?? .null]
    try connection.run(
      """
      INSERT INTO main.entry
      SELECT e.store, e.key, e.type, e.value, e.timestamp, e.replica_id, ?4 + e.sequence_number
      \(source)
      """, chunk + [.integer(replica.sequenceNumber)])
    let applied = connection.changes
    try keepChanges(connection, source, chunk, &result)
    result.received += applied
    result.changed += applied
    result.hasNews = result.hasNews || applied > 0
    let end = replica.sequenceNumber + giver.sequenceNumber
    result.taken.append(replica.sequenceNumber + 1...end)
    replica.sequenceNumber = end
    replica.last = max(replica.last, HybridTimestamp(rawValue: newest))
    if let upper { return Place(store: place.store, key: upper) }
    return place.store + 1 < stores.count ? Place(store: place.store + 1) : nil
  }

  private func keepChanges(
    _ connection: Connection, _ source: String, _ chunk: [Cell], _ result: inout PullResult
  ) throws {
    if result.hasMoreChanges { return }
    let reason: SettingChange.Reason = try connection.hasMet() ? .merge : .firstMerge
    try connection.run(
      "SELECT e.store, e.key, e.type, e.value, e.timestamp, e.replica_id \(source)", chunk
    ) { row in
      let content = row.content(2)
      guard !content.isTombstone else { return true }
      let change = SettingChange(
        store: row.text(0), key: row.text(1), from: .tombstone, to: content,
        writer: ReplicaID(rawValue: row.integer(5)),
        timestamp: HybridTimestamp(rawValue: row.integer(4)), reason: reason)
      return result.keep(change, content.cell.byteCount)
    }
  }
}

extension Connection {
  /// Whether a file has nothing of these stores.
  fileprivate func isEmpty(in schema: String, _ stores: [ByteText]) throws -> Bool {
    try !stores.contains { store in
      try first(
        "SELECT 1 FROM \(schema).entry WHERE store = ?1 LIMIT 1", [.text(store.string)]
      ) { _ in true } ?? false
    }
  }

  /// Whether a file has so many rows.
  fileprivate func hasRows(_ count: Int) throws -> Bool {
    try first("SELECT 1 FROM entry LIMIT 1 OFFSET ?1", [.integer(Int64(count - 1))]) { _ in true }
      ?? false
  }
}
