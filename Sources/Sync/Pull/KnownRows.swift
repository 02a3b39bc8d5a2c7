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

  /// Nil until the first answer.
  private(set) var newest: String?
  /// Whether the hub does not know what the file has noted of it.
  var isLost = false
  /// Whether rows were pushed, and no mark and vectors after them.
  var owesMark = false
  /// What the file had forgotten when this sync has read all of the hub.
  var forgotten: [ByteText: Int64]?
  private var rows: [Address: Row] = [:]
  /// Keys on the hub whose rows are of a newer version.
  private var unreadable: Set<ByteText> = []
  var count: Int { rows.count + unreadable.count }

  mutating func add(_ entries: [Entry], newest: String, unreadable keys: Set<ByteText> = []) {
    for entry in entries { rows[entry.address] = Row(entry) }
    if !unreadable.isEmpty { unreadable.subtract(entries.map { ByteText($0.address.hubKey) }) }
    unreadable.formUnion(keys)
    self.newest = newest
  }

  /// The hub was set back, or has forgotten deletions.
  mutating func forget() {
    (newest, rows, unreadable, isLost) = (HubCursor.beginning, [:], [], true)
  }

  /// Whether the hub has another row, or none. It is replaced, unless it waits: a row with another
  /// ID, too, because the file may have rotated since it was read.
  func lacks(_ entry: Entry) -> Bool { rows[entry.address] != Row(entry) }

  /// Whether a later row waits on the hub, or one that this version cannot read.
  func hasUnread(beside entry: Entry) -> Bool {
    if !unreadable.isEmpty, unreadable.contains(ByteText(entry.address.hubKey)) { return true }
    return rows[entry.address].map { $0.timestamp > entry.timestamp } ?? false
  }
}
