// SPDX-License-Identifier: Apache-2.0
//
// The other direction: rows that a hub lacks, in pages. The last page is read with mark and
// vectors, in one transaction: a vector that covers rows of pages to come would hide conflicts. If
// no row is left for it, because others have written them or the hub has refused them, the last row
// that was pushed is pushed again.

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// A page of rows to push.
struct HubPushPage {
  struct Last {
    let mark: Mark
    let vectors: VersionVectors
    /// Numbers of rows that are held back.
    let held: [Int64]
    /// Whether it was noted already that the hub has everything.
    var isNoted = false

    /// - Parameter read: nil if rows of the hub wait.
    func cursor(read: String?, _ old: HubCursor) -> HubCursor {
      var cursor = HubCursor()
      (cursor.read, cursor.sent, cursor.held) = (read ?? old.read, mark, held)
      return cursor
    }
  }

  /// The page begins after this number.
  let position: Int64
  var rows: [HubUpload.Row] = []
  /// Nil if a page follows.
  var last: Last?
}

/// How large the pages are that a sync pushes. A smaller one takes less time.
struct HubPageSize {
  private(set) var rows: Int
  /// After so many it takes no more rows.
  private(set) var bytes = 512 << 10
  private var largest: (rows: Int, bytes: Int)
  /// Attempts in a row that pushed nothing, less one for each page that was taken since.
  var attempt = 0

  init(rows: Int) {
    self.rows = rows
    largest = (rows, bytes)
  }

  /// Begins an attempt.
  mutating func begin() {
    rows = max(1, largest.rows >> (3 * attempt))
    bytes = max(1, largest.bytes >> (3 * attempt))
  }

  /// After a page that was taken.
  mutating func grow() {
    attempt = max(0, attempt - 1)
    (rows, bytes) = (min(2 * rows, largest.rows), min(2 * bytes, largest.bytes))
  }

  /// Something does not accept a page of this size.
  mutating func limit() { largest = (max(1, rows >> 3), max(1, bytes >> 3)) }
}

extension HubSync {
  /// Reads a page, within a transaction.
  func readPage(
    after position: Int64, _ pull: HubPull, _ connection: Connection
  ) throws -> HubPushPage {
    var page = HubPushPage(position: position)
    var (bytes, isLast) = (0, true)
    held.formUnion(channel.refused.numbers)
    try connection.forEachUnsent(cursor, after: position) { entry, number in
      guard let entry, !held.contains(number) else {
        // No device would read it, and a hub cannot store what is not UTF-8.
        held.insert(number)
        return true
      }
      guard let row = try rowToPush(entry, number, pull) else { return true }
      isLast =
        page.rows.count < pageSize.rows
        && (bytes == 0 || bytes + row.body.count <= pageSize.bytes)
      guard isLast else { return false }
      bytes += row.body.count
      page.rows.append(row)
      return true
    }
    guard isLast else { return page }
    page.last = try last(pull.horizon, connection)
    if page.rows.isEmpty, let row = known.unmarkedRow, !held.contains(row.sequenceNumber) {
      page.rows = [row]
    }
    if page.rows.isEmpty, position == 0, let last = page.last {
      try note(last.cursor(read: pull.hasReadAll ? pull.answer.newest : nil, cursor), connection)
      page.last?.isNoted = true
    }
    return page
  }

  /// - Returns: nil if the row is held back, or is known to the hub.
  private func rowToPush(
    _ entry: Entry, _ number: Int64, _ pull: HubPull
  ) throws -> HubUpload.Row? {
    guard entry.timestamp <= pull.horizon else {
      held.insert(number)
      return nil
    }
    // No device would take it.
    if !entry.content.isTombstone, EntrySize.problem(entry) != nil {
      held.insert(number)
      return nil
    }
    let (limit, isUnsent) = (pull.answer.rowLimit, known.lacks(entry))
    // JSON takes up to six bytes for one.
    let mayBeTooLarge = entry.content.cell.byteCount > (limit - 16_384) / 6
    guard isUnsent || mayBeTooLarge else { return nil }
    guard let body = try channel.encode(entry, limit: limit) else {
      held.insert(number)
      return nil
    }
    return isUnsent ? HubUpload.Row(entry: entry, sequenceNumber: number, body: body) : nil
  }

  /// Earlier pages have found rows to hold back, too. One that was changed since has a new number.
  private func last(
    _ horizon: HybridTimestamp, _ connection: Connection
  ) throws -> HubPushPage.Last {
    let mark = try connection.marks.add(source)
    let held = try self.held.filter(connection.hubs.hasEntry).sorted()
    return HubPushPage.Last(
      mark: mark, vectors: try connection.vectors(to: mark, below: held, horizon), held: held)
  }

  func reportHeld(_ held: [Int64], _ horizon: HybridTimestamp) throws(KeepsakeError) {
    var unreadable = 0
    for number in held.prefix(max(options.changeLimit, 0)) {
      try device.core.read { connection in
        try connection.forEachRow("= ?1", number) { entry, _ in
          if let entry { note(held: entry, horizon) } else { unreadable += 1 }
          return true
        }
      }
    }
    if unreadable > 0 { report.events.append(.unreadable(count: unreadable)) }
  }

  private func note(held entry: Entry, _ horizon: HybridTimestamp) {
    let (store, key) = (entry.address.store.string, entry.address.key.string)
    guard entry.timestamp > horizon else {
      return report.events.append(.tooLarge(store: store, key: key))
    }
    let due = Date(milliseconds: max(0, entry.timestamp.milliseconds - options.clockSkew))
    report.waiting.append(MergeReport.Waiting(into: 1, store: store, key: key, until: due))
  }
}

extension Connection {
  /// What a hub will have read after a push: the file's vectors with its own writes, below each row
  /// that is held back.
  fileprivate func vectors(
    to mark: Mark, below held: [Int64], _ horizon: HybridTimestamp
  ) throws -> VersionVectors {
    let stores = try syncedStores().sorted()
    let id = try ReplicaState(self).id
    var vectors = try VersionVectors(self, of: stores)
    for store in stores { vectors.raise(store, id, to: mark.timestamp) }
    vectors.cut(to: horizon)
    for number in held {
      try run(
        "SELECT store, replica_id, timestamp FROM entry WHERE sequence_number = ?1",
        [.integer(number)]
      ) {
        vectors.lower(
          ByteText($0.text(0)), ReplicaID(rawValue: $0.integer(1)),
          below: HybridTimestamp(rawValue: $0.integer(2)))
        return true
      }
    }
    vectors.shorten()
    return vectors
  }
}
