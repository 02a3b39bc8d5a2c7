// SPDX-License-Identifier: Apache-2.0
//
// What a pull reads of its giver, in one transaction for each page. The rows are kept by value:
// nothing of the giver is read while the receiver is locked for writing.

import KeepsakeDevice
import KeepsakeValues

/// Rows of a giver in the order of their sequence numbers, and what the giver was when they were
/// read.
struct GiverPage {
  /// Bytes of stores, keys and values after which no page takes another row: 16 MiB.
  private static let maximumBytes = 1 << 24

  let id: ReplicaID
  /// The last number of all stores, synced or not.
  let sequenceNumber: Int64
  /// The newest mark.
  let mark: Mark
  /// Of the stores of the pull, with the giver's own writes.
  private(set) var vectors: VersionVectors
  /// Per store the number up to which the giver has read the receiver.
  let giverCursors: [ByteText: Int64]
  /// Whether a store is read from the beginning though it was read before.
  private(set) var isReadAgain = false
  /// The number of the last row that was read.
  private(set) var end: Int64 = 0
  /// The rows that are not from the future.
  private(set) var rows: [Entry] = []
  /// The rows that are from the future.
  private(set) var waiting: [Entry] = []
  /// How many rows were left out, because no device writes them.
  private(set) var malformed = 0
  /// The last mark before the first row that waits, or was left out.
  private(set) var markBeforeUnread: Mark?
  /// Whether no row follows.
  private(set) var isLast = true
  private var firstUnread: Int64?
  private var bytes = 0

  /// Reads a page, within a transaction of the giver.
  ///
  /// - Parameters:
  ///   - mark: the giver's newest one.
  ///   - position: the number of the last row before.
  /// - Throws: also if the giver has taken a new replica ID, or forgotten deletions, meanwhile.
  init(
    _ connection: Connection, for pull: Pull, mark: Mark, after position: Int64
  ) throws {
    let replica = try ReplicaState(connection)
    guard replica.id == pull.giver.id, try connection.forgotten() == pull.giver.forgotten else {
      throw KeepsakeError(
        .locked, path: pull.giver.device.path,
        "it has taken a new replica ID, or dropped tombstones, while it was read",
        cure: "merge again")
    }
    (id, sequenceNumber, self.mark) = (replica.id, replica.sequenceNumber, mark)
    vectors = try VersionVectors(connection, of: pull.stores)
    giverCursors = try connection.peers.rows(of: pull.receiver.id)
      .mapValues(\.cursor.sequenceNumber)
    // After which number each store is read.
    var cursors: [ByteText: Int64] = [:]
    for store in pull.stores {
      // Marks do not count stores that are not synced.
      let endsAtMark = pull.marksGiver && StoreName.isSynced(store.string)
      vectors.raise(id, in: store, to: endsAtMark ? mark.timestamp : replica.last)
      let cursor = pull.receiver.cursor(of: id, in: store)
      let isKnown = try !pull.inFull.contains(store) && connection.marks.contains(cursor) == true
      cursors[store] = isKnown ? cursor.sequenceNumber : 0
      isReadAgain = isReadAgain || !isKnown && cursor != .start
    }
    end = max(position, cursors.values.min() ?? 0)
    // No device gives a number below 1: a row that has one is reported.
    let start = end == 0 ? Int64.min : end
    for interval in pull.skipped.gaps(after: start, through: .max) where isLast {
      try read(interval, of: connection, after: cursors, for: pull)
    }
    markBeforeUnread = try firstUnread.map { try connection.marks.last(before: $0) }
  }

  /// Reads the rows of an interval of numbers. Each has to be in the index `i` as well as in the
  /// table `e`, and in order. Rows of other stores are passed over in the index.
  private mutating func read(
    _ interval: (lower: Int64, upper: Int64), of connection: Connection,
    after cursors: [ByteText: Int64], for pull: Pull
  ) throws {
    end = interval.lower
    let others = pull.stores.filter { !StoreName.isSynced($0.string) }
    let places = others.indices.map { "?\($0 + 4)" }.joined(separator: ", ")
    let read = cursors.filter { StoreName.isSynced($0.key.string) }.values.min() ?? .max
    let start = read == 0 ? Int64.min : read
    try connection.run(
      """
      SELECT i.sequence_number, e.sequence_number, \(Connection.isSound),
        e.store, e.key, e.type, e.value, e.timestamp, e.replica_id
      FROM entry AS i INDEXED BY entry_sequence
      LEFT JOIN entry AS e ON e.store = i.store AND e.key = i.key
      WHERE i.sequence_number > ?1 AND i.sequence_number <= ?2
        AND (i.sequence_number > ?3 AND \(Connection.isSynced("i.store"))
          OR i.store IN (\(places)))
      ORDER BY i.sequence_number
      """,
      [.integer(interval.lower), .integer(interval.upper), .integer(start)]
        + others.map { .text($0.string) }
    ) { try add($0, after: cursors, for: pull) }
  }

  /// - Returns: false if there is no room.
  private mutating func add(
    _ row: Row, after cursors: [ByteText: Int64], for pull: Pull
  ) throws -> Bool {
    let number = row.integer(0)
    guard number > end, row.cell(1) == .integer(number) else {
      throw KeepsakeError(
        .corrupt, path: pull.giver.device.path,
        "the file is damaged (an index does not fit its table)", cure: "restore a backup of it")
    }
    let store = row.text(3)
    let isRead = cursors[ByteText(store)].map { max(number, 1) > $0 } ?? false
    if isRead, row.integer(2) == 1, row.isUTF8(3), row.isUTF8(4), row.isUTF8(6) {
      guard try add(row.entry(from: 3), number: number, for: pull) else { return false }
    } else if isRead {
      malformed += 1
      firstUnread = firstUnread ?? number
    }
    end = number
    return true
  }

  /// - Returns: false if there is no room.
  private mutating func add(_ entry: Entry, number: Int64, for pull: Pull) throws -> Bool {
    let count = rows.count + waiting.count
    isLast = count < max(pull.options.chunkSize, 1) && bytes < Self.maximumBytes
    guard isLast else { return false }
    if !entry.content.isTombstone, let problem = EntrySize.problem(entry) {
      throw KeepsakeError.rowTooLarge(
        path: pull.giver.device.path, problem, cure: "set a smaller one, or delete the key")
    }
    let address = entry.address
    bytes += address.store.string.utf8.count + address.key.string.utf8.count
    bytes += entry.content.cell.byteCount
    if entry.timestamp > pull.horizon {
      waiting.append(entry)
      firstUnread = firstUnread ?? number
    } else {
      rows.append(entry)
    }
    return true
  }
}

extension PullResult {
  /// Notes what a page has besides its applied rows.
  mutating func note(_ page: GiverPage, of pull: Pull) {
    isReadAgain = isReadAgain || page.isReadAgain
    malformed += page.malformed
    received += page.waiting.count
    markBeforeUnread = markBeforeUnread ?? page.markBeforeUnread
    for entry in page.waiting {
      note(waiting: MergeReport.Waiting(entry, into: pull.into, pull.options), pull.options)
    }
  }
}
