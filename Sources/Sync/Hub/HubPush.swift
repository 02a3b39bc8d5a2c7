// SPDX-License-Identifier: Apache-2.0
//
// The other direction: rows that a hub lacks, in pages. The last page is read with mark and
// vectors, in one transaction: a vector that covers rows of pages to come would hide conflicts. It
// may have no row, if others have written those that were left, or the hub has refused them.

import KeepsakeDevice
import KeepsakeValues

/// A page of rows to push.
struct HubPushPage {
  /// The page begins after this number.
  let position: Int64
  var rows: [HubUpload.Row] = []
  /// Of the last page, also the numbers of all rows that are held back.
  var last: (mark: Mark, vectors: VersionVectors, held: [Int64])?
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
      guard let row = rowToPush(entry, number: number, pull: pull) else { return true }
      isLast =
        page.rows.count < pageSize.rows
        && (bytes == 0 || bytes + row.body.count <= pageSize.bytes)
      guard isLast else { return false }
      bytes += row.body.count
      page.rows.append(row)
      return true
    }
    guard isLast else { return page }
    let mark = try connection.marks.add(source)
    // Earlier pages have found rows to hold back, too. One that was changed since has a new number.
    let numbers = try held.filter(connection.hubs.hasEntry).sorted()
    page.last = (mark, try connection.vectors(to: mark, below: numbers, pull.horizon), numbers)
    return page
  }

  /// - Returns: nil if the row is held back, or is known to the hub.
  private func rowToPush(_ entry: Entry, number: Int64, pull: HubPull) -> HubUpload.Row? {
    let (limit, isUnsent) = (pull.answer.rowLimit, known.lacks(entry))
    let isTaken =
      entry.timestamp <= pull.horizon && !known.hasUnread(beside: entry)
      && (entry.content.isTombstone || EntrySize.problem(entry) == nil)
    // JSON takes up to six bytes for one.
    let isShort = entry.content.cell.byteCount <= (limit - 16_384) / 6
    if isTaken, isShort, !isUnsent { return nil }
    guard isTaken, let body = channel.encode(entry, limit: limit) else {
      held.insert(number)
      return nil
    }
    return isUnsent ? HubUpload.Row(entry: entry, sequenceNumber: number, body: body) : nil
  }

  func reportHeld(_ held: [Int64], horizon: HybridTimestamp) throws(KeepsakeError) {
    var (room, waiting, unreadable) = (options.changeLimit, 0, 0)
    try device.tables.read { connection in
      for number in held {
        try connection.forEachRow("= ?1", number) { entry, _ in
          guard let entry, channel.encode(entry, limit: .max) != nil else {
            unreadable += 1
            return true
          }
          let (store, key) = (entry.address.store.string, entry.address.key.string)
          room -= 1
          if entry.timestamp > horizon {
            waiting += 1
            if room >= 0 { report.waiting.append(MergeReport.Waiting(entry, into: 1, options)) }
          } else if room >= 0, !known.hasUnread(beside: entry) {
            report.events.append(.tooLarge(store: store, key: key))
          }
          return true
        }
      }
    }
    if let place = report.transfers.firstIndex(where: { $0.into == 1 }) {
      report.transfers[place].waiting += waiting
    }
    if unreadable > 0 { report.events.append(.unreadable(count: unreadable)) }
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
    for store in stores { vectors.raise(id, in: store, to: mark.timestamp) }
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
