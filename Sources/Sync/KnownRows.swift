// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// What the attempts of one sync know of the hub: its newest mark, and rows that it had then,
/// without their values. If it does not know the mark any more, it was set back, and may have lost
/// the rows.
struct KnownRows {
  private struct Row: Equatable {
    let timestamp: HybridTimestamp
    let replicaID: ReplicaID
    /// Of the content, in this process.
    let hash: Int

    init(_ entry: Entry) {
      (timestamp, replicaID) = (entry.timestamp, entry.replicaID)
      hash = entry.content.hashValue
    }
  }

  private(set) var newest: String?
  /// The last row that was pushed without mark and vectors.
  private var unmarked: HubUpload.Row?
  private var rows: [Address: Row] = [:]
  var count: Int { rows.count }

  mutating func add(_ entries: [Entry], _ newest: String) {
    for entry in entries { rows[entry.address] = Row(entry) }
    self.newest = newest
  }

  mutating func add(_ page: HubPushPage, _ newest: String) {
    add(page.rows.map(\.entry), newest)
    unmarked = page.last == nil ? page.rows.last : nil
  }

  /// A row to push again with mark and vectors, if no other is left for them.
  var unmarkedRow: HubUpload.Row? {
    guard let row = unmarked, rows[row.entry.address] == Row(row.entry) else { return nil }
    return row
  }

  /// - Returns: whether this was the number of the row to push again.
  mutating func forgetUnmarked(_ number: Int64) -> Bool {
    guard unmarked?.sequenceNumber == number else { return false }
    unmarked = nil
    return true
  }

  /// Whether the row has to be pushed. One that waits on the hub is not replaced. One with another
  /// ID is, because the file may have rotated since it was read.
  func lacks(_ entry: Entry) -> Bool {
    guard let there = rows[entry.address] else { return true }
    return there != Row(entry) && entry.timestamp >= there.timestamp
  }
}
