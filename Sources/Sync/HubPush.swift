// SPDX-License-Identifier: Apache-2.0
//
// The other direction: rows that a hub lacks, in pages. The last page is read with mark and
// vectors, in one transaction: a vector that covers rows of pages to come would hide conflicts.

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
    /// Which of them are from the hub's future.
    let future: Set<Int64>
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

extension HubSync {
  /// Reads a page, within a transaction.
  func readPage(
    after position: Int64, _ pull: HubPull, _ connection: Connection
  ) throws -> HubPushPage {
    let limit = pull.answer.rowLimit
    let unsent = UnsentRows(connection: connection, cursor: cursor, horizon: pull.horizon)
    var page = HubPushPage(position: position)
    var (bytes, isLast) = (0, true)
    let refused = channel.refused.numbers
    try unsent.forEach(after: position) { entry, number in
      guard let entry else {
        channel.refused.insert(number)
        return true
      }
      guard known.lacks(entry), !refused.contains(number),
        let body = try channel.encode(entry, limit: limit)
      else { return true }
      isLast = page.rows.count < pageSize && (bytes == 0 || bytes + body.count <= pageBytes)
      guard isLast else { return false }
      bytes += body.count
      page.rows.append(HubUpload.Row(entry: entry, sequenceNumber: number, body: body))
      return true
    }
    guard isLast else { return page }
    page.last = try last(unsent, limit, connection)
    if page.rows.isEmpty, position == 0, let last = page.last {
      try note(last.cursor(read: pull.hasReadAll ? pull.answer.newest : nil, cursor), connection)
      page.last?.isNoted = true
    }
    return page
  }

  private func last(
    _ unsent: UnsentRows, _ limit: Int, _ connection: Connection
  ) throws -> HubPushPage.Last {
    let mark = try connection.marks.add(source)
    let future = try unsent.future()
    let large = try unsent.large(limit) { try channel.encode($0, limit: limit) == nil }
    let refused = try channel.refused.numbers.filter(connection.hubs.hasEntry)
    let numbers = refused.union(future + large).sorted()
    return HubPushPage.Last(
      mark: mark, vectors: try connection.vectors(to: mark, below: numbers, unsent.horizon),
      held: numbers, future: Set(future))
  }

  func reportHeld(_ last: HubPushPage.Last) throws(KeepsakeError) {
    guard !last.held.isEmpty else { return }
    let limit = max(options.changeLimit, 0)
    let rows = try device.core.read { connection in
      try last.held.prefix(limit).flatMap { number in
        try connection.all(
          "SELECT store, key, value, timestamp FROM entry WHERE sequence_number = ?1",
          [.integer(number)]
        ) { row in
          let isUTF8 = row.isUTF8(0) && row.isUTF8(1) && row.isUTF8(2)
          let timestamp = HybridTimestamp(rawValue: row.integer(3))
          return (number, row.text(0), row.text(1), timestamp, isUTF8)
        }
      }
    }
    let unreadable = rows.count { !$0.4 }
    if unreadable > 0 { report.events.append(.unreadable(count: unreadable)) }
    for (number, store, key, timestamp, isUTF8) in rows where isUTF8 {
      guard last.future.contains(number) else {
        report.events.append(.tooLarge(store: store, key: key))
        continue
      }
      let due = Date(milliseconds: max(0, timestamp.milliseconds - options.clockSkew))
      report.waiting.append(MergeReport.Waiting(into: 1, store: store, key: key, until: due))
    }
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
    return vectors
  }
}
