// SPDX-License-Identifier: Apache-2.0
//
// What a pull reads of its giver, in one transaction for each page. The rows are kept by value:
// nothing of the giver is read while the receiver is locked for writing.

import KeepsakeDevice
import KeepsakeValues

/// What a giver was when a page of it was read.
struct GiverState {
  let id: ReplicaID
  /// The last number of all stores, synced or not.
  let sequenceNumber: Int64
  /// The newest mark.
  let mark: Mark
  /// Of the stores of the pull, with the giver's own writes.
  let vectors: VersionVectors
  /// Per store, up to which number the giver has read the receiver.
  let sent: [ByteText: Int64]
  /// Per store, how far the giver has forgotten deletions.
  let forgotten: [ByteText: Int64]

  init(_ connection: Connection, _ pull: Pull, _ mark: Mark) throws {
    let replica = try ReplicaState(connection)
    (id, sequenceNumber, self.mark) = (replica.id, replica.sequenceNumber, mark)
    var vectors = try VersionVectors(connection, of: pull.stores)
    for store in pull.stores {
      // Marks do not count stores that are not synced.
      let endsAtMark = pull.marksGiver && StoreName.isSynced(store.string)
      vectors.raise(store, id, to: endsAtMark ? mark.timestamp : replica.last)
    }
    self.vectors = vectors
    sent = try connection.peers.rows(of: pull.receiverSide.id).mapValues(\.cursor.sequenceNumber)
    forgotten = try connection.forgotten()
  }
}

/// Rows of a giver in the order of their sequence numbers.
struct GiverPage {
  /// Bytes of stores, keys and values after which no page takes another row: 16 MiB.
  private static let maximumBytes = 1 << 24

  let state: GiverState
  /// The number of the last row that was read.
  fileprivate(set) var end: Int64
  /// Those that are not from the future.
  private(set) var rows: [Entry] = []
  /// Those that are.
  private(set) var waiting: [Entry] = []
  /// How many rows were left out, because no device writes them.
  private(set) var skipped = 0
  /// The number of the first row that waits, or was left out.
  fileprivate private(set) var firstUnread: Int64?
  /// The last mark before that row.
  fileprivate(set) var markBeforeUnread: Mark?
  /// Whether no row follows.
  private(set) var isLast = true
  private var bytes = 0

  fileprivate init(_ state: GiverState, after position: Int64) {
    (self.state, end) = (state, position)
  }

  /// - Returns: false if there is no room.
  fileprivate mutating func add(_ entry: Entry, _ number: Int64, _ pull: Pull) throws -> Bool {
    let count = rows.count + waiting.count
    isLast = count < max(pull.options.chunkSize, 1) && bytes < Self.maximumBytes
    guard isLast else { return false }
    if !entry.content.isTombstone, let problem = EntrySize.problem(entry) {
      throw KeepsakeError.rowTooLarge(
        path: pull.giver.path, problem, cure: "set a smaller one, or delete the key")
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

  /// Leaves out a row that no device writes.
  fileprivate mutating func skip(_ number: Int64) {
    skipped += 1
    firstUnread = firstUnread ?? number
  }
}

/// Which rows of a giver a pull reads.
struct GiverRange {
  /// Not for rows that no device writes.
  static let isSound = """
    (e.key <> '' AND (e.type = 0) = (e.value IS NULL) AND e.timestamp >= 0
      AND e.replica_id > 0 AND e.sequence_number > 0)
    """

  /// Per store, after which number it is read.
  private var lower: [ByteText: Int64] = [:]
  /// Whether a store is read from the beginning though it was read before.
  private(set) var isReadAgain = false
  private let giverID: ReplicaID
  private let forgotten: [ByteText: Int64]

  /// Within a transaction of the giver.
  init(_ pull: Pull, _ connection: Connection, _ giver: GiverState) throws {
    (giverID, forgotten) = (giver.id, giver.forgotten)
    for store in pull.stores {
      let cursor = pull.receiverSide.cursor(giverID, store)
      let isKnown = try !pull.inFull.contains(store) && connection.marks.contains(cursor) == true
      lower[store] = isKnown ? cursor.sequenceNumber : 0
      isReadAgain = isReadAgain || !isKnown && cursor != .start
    }
  }

  /// Reads a page, within a transaction of the giver.
  ///
  /// - Parameter position: the number of the last row before.
  /// - Throws: also if the giver has taken a new replica ID, or forgotten deletions, meanwhile.
  func page(
    _ connection: Connection, _ state: GiverState, after position: Int64, _ pull: Pull
  ) throws -> GiverPage {
    guard state.id == giverID, state.forgotten == forgotten else { throw pull.isDisturbed }
    let first = max(position, lower.values.min() ?? 0)
    var page = GiverPage(state, after: first)
    for interval in pull.skipped.gaps(after: first, through: .max) where page.isLast {
      try read(connection, interval, &page, pull)
    }
    if let number = page.firstUnread {
      page.markBeforeUnread = try connection.marks.last(before: number)
    }
    return page
  }

  /// Reads the rows of an interval of numbers. Each has to be in the index `i` as well as in the
  /// table `e`, and in order.
  private func read(
    _ connection: Connection, _ interval: (lower: Int64, upper: Int64), _ page: inout GiverPage,
    _ pull: Pull
  ) throws {
    page.end = interval.lower
    try connection.run(
      """
      SELECT i.sequence_number, e.sequence_number, \(Self.isSound),
        e.store, e.key, e.type, e.value, e.timestamp, e.replica_id
      FROM entry AS i INDEXED BY entry_sequence
      LEFT JOIN entry AS e ON e.store = i.store AND e.key = i.key
      WHERE i.sequence_number > ?1 AND i.sequence_number <= ?2 ORDER BY i.sequence_number
      """, [.integer(interval.lower), .integer(interval.upper)]
    ) { row in
      let number = row.integer(0)
      guard number > page.end, row.cell(1) == .integer(number) else {
        throw KeepsakeError(
          .corrupt, path: pull.giver.path,
          "the file is damaged (an index does not fit its table)",
          cure: "restore a backup of it")
      }
      let after = lower[ByteText(row.text(3))]
      let isText = row.isUTF8(3) && row.isUTF8(4) && row.isUTF8(6)
      // The name of a store that is not UTF-8 is not known.
      let isRead =
        after.map { number > $0 } ?? (!row.isUTF8(3) && StoreName.isSynced(row.text(3)))
      if isRead {
        if isText, row.integer(2) == 1 {
          guard try page.add(Entry(row, from: 3), number, pull) else { return false }
        } else {
          page.skip(number)
        }
      }
      page.end = number
      return true
    }
  }
}
