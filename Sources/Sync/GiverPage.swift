// SPDX-License-Identifier: Apache-2.0
//
// What a pull reads of its giver, in one read transaction for each page. The rows are kept by
// value: nothing of the giver is read while the receiver is locked for writing.

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// What a giver was when a page of it was read.
struct GiverState {
  let id: ReplicaID
  /// The last number of all stores, synced or not.
  let sequenceNumber: Int64
  /// The newest mark.
  let mark: Mark
  /// Whether nothing in a synced store came after the mark.
  let isMarked: Bool
  /// Of the stores of the pull, with the giver's own writes.
  let vectors: VersionVectors
  /// Per store, up to which number the giver has read the receiver.
  let sent: [ByteText: Int64]
  /// Per store, how far the giver has forgotten deletions.
  let forgotten: [ByteText: Int64]

  /// - Parameter endsAtMark: whether the own writes are those up to the mark.
  init(
    _ connection: Connection, _ stores: [ByteText], receiver: ReplicaID, endsAtMark: Bool
  ) throws {
    let replica = try ReplicaState(connection)
    let (newest, last) = (try connection.marks.newestNumber(), try connection.marks.newest())
    (id, sequenceNumber) = (replica.id, replica.sequenceNumber)
    isMarked = newest == last.sequenceNumber
    // Another program may have deleted what it counted.
    mark = last.sequenceNumber <= newest ? last : .start
    var vectors = try VersionVectors(connection, of: stores)
    for store in stores {
      // Marks do not count stores that are not synced.
      let isUpToMark = endsAtMark && isMarked && StoreName.isSynced(store.string)
      vectors.raise(store, id, to: isUpToMark ? last.timestamp : replica.last)
    }
    self.vectors = vectors
    sent = try connection.peers.rows(of: receiver).mapValues(\.cursor.sequenceNumber)
    forgotten = try connection.forgotten()
  }
}

/// Rows of a giver in the order of their sequence numbers.
struct GiverPage {
  let state: GiverState
  /// Those that are not from the future.
  var rows: [IncomingRow] = []
  /// Those that are.
  var waiting: [IncomingRow] = []
  /// The last mark before the first row that waits.
  var markBeforeWaiting: Mark?
  /// The numbers of rows that no device writes; they are left out.
  var skipped: [Int64] = []
  /// The number of the last row.
  var end: Int64 = 0
  /// Whether no row follows.
  var isLast = true

  /// Bytes of keys and values after which no page takes another row: 16 MiB. The values that it
  /// replaces count, too.
  static let maximumBytes: Int64 = 1 << 24

  /// Leaves what comes after a number to the next page.
  mutating func end(at number: Int64?) {
    guard let number else { return }
    rows.removeAll { $0.sequenceNumber > number }
    waiting.removeAll { $0.sequenceNumber > number }
    skipped.removeAll { $0 > number }
    if waiting.isEmpty { markBeforeWaiting = nil }
    (end, isLast) = (number, false)
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
  private(set) var lower: [ByteText: Int64] = [:]
  /// Whether a store is read from the beginning though it was read before.
  private(set) var isReadAgain = false
  let giverID: ReplicaID
  private let forgotten: [ByteText: Int64]
  private let skipped: NumberRanges
  private let names: [Data: ByteText]

  /// Within a transaction of the giver.
  init(_ request: PullRequest, _ connection: Connection) throws {
    giverID = try ReplicaState(connection).id
    forgotten = try connection.forgotten()
    skipped = request.skipped
    names = Dictionary(
      request.stores.map { (Data($0.string.utf8), $0) }, uniquingKeysWith: { $1 })
    for store in request.stores {
      let cursor = request.peers[giverID]?[store]?.cursor ?? .start
      let isKnown = try !request.inFull.contains(store) && connection.marks.contains(cursor) == true
      lower[store] = isKnown ? cursor.sequenceNumber : 0
      isReadAgain = isReadAgain || !isKnown && cursor != .start
    }
  }

  /// Whether everything is read.
  var isWhole: Bool { skipped.ranges.isEmpty && lower.values.allSatisfy { $0 == 0 } }

  /// Reads a page, within a transaction of the giver.
  ///
  /// - Parameter position: the number of the last row before.
  /// - Returns: nil if the giver has taken a new replica ID, or forgotten deletions, meanwhile.
  func page(
    _ connection: Connection, after position: Int64, _ request: PullRequest
  ) throws -> GiverPage? {
    let first = max(position, lower.values.min() ?? 0)
    var buffer = RowBuffer(size: max(request.options.chunkSize, 1))
    do {
      for interval in skipped.gaps(after: first, through: .max) where buffer.hasRoom {
        try read(connection, interval, &buffer)
      }
    } catch where KeepsakeError.isRowTooLarge(error) {
      // Names the row.
      try connection.measure(
        "FROM entry AS e WHERE e.sequence_number > ?1 ORDER BY e.sequence_number",
        [.integer(buffer.rows.last?.sequenceNumber ?? first)], in: request.giver.path) { _, _ in }
      throw error
    }
    let rows = buffer.rows
    if request.checksRows, let last = rows.last {
      try RowCheck.check(
        connection, after: first, through: last.sequenceNumber, path: request.giver.path)
    }
    let state = try GiverState(
      connection, request.stores, receiver: request.receiverID,
      endsAtMark: buffer.hasRoom && request.marksGiver)
    guard state.id == giverID, state.forgotten == forgotten else { return nil }
    var page = GiverPage(state: state, skipped: buffer.skipped, isLast: buffer.hasRoom)
    page.end = rows.last?.sequenceNumber ?? position
    let horizon = request.horizon.rawValue
    page.waiting = rows.filter { $0.timestamp > horizon }
    page.rows = page.waiting.isEmpty ? rows : rows.filter { $0.timestamp <= horizon }
    if let first = page.waiting.first {
      page.markBeforeWaiting = try connection.marks.last(before: first.sequenceNumber)
    }
    return page
  }

  /// Reads the rows of an interval of numbers.
  private func read(
    _ connection: Connection, _ interval: (lower: Int64, upper: Int64), _ buffer: inout RowBuffer
  ) throws {
    try connection.run(
      """
      SELECT \(IncomingRow.columns), \(Self.isSound)
      FROM entry AS e INDEXED BY entry_sequence
      WHERE e.sequence_number > ?1 AND e.sequence_number <= ?2 ORDER BY e.sequence_number
      """, [.integer(interval.lower), .integer(interval.upper)]
    ) { row in
      guard let store = names[row.bytes(0)] else {
        if !row.isUTF8(0) { buffer.skipped.append(row.integer(6)) }
        return true
      }
      guard row.integer(6) > lower[store] ?? 0 else { return true }
      guard row.integer(8) == 1 else {
        buffer.skipped.append(row.integer(6))
        return true
      }
      return buffer.add(IncomingRow(row))
    }
  }
}

/// Rows of one page.
private struct RowBuffer {
  let size: Int
  private(set) var rows: [IncomingRow] = []
  private var bytes = 0
  var skipped: [Int64] = []
  /// False if another row follows that the page does not take.
  private(set) var hasRoom = true

  init(size: Int) { self.size = size }

  mutating func add(_ row: IncomingRow) -> Bool {
    hasRoom = rows.count < size && bytes < GiverPage.maximumBytes
    guard hasRoom else { return false }
    rows.append(row)
    bytes += row.byteCount
    return true
  }
}
