// SPDX-License-Identifier: Apache-2.0
//
// New replica IDs for files that may have written beside a twin: copies, and files that were set
// back to an earlier state. Such a file does not have a mark that another file has noted of it.
// Marks are committed before others note them, so no crash looks like that.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// Gives a file a new replica ID if it has that of the other one, or is not what the other has
  /// read.
  mutating func separate(_ place: Int, from other: Int) throws(KeepsakeError) {
    guard let mark = try lastRead(of: place, by: other) else { return }
    let (device, giver, id) = (sides[place].device, sides[other].device, source.replicaID())
    try device.tables.attaching(giver) { () throws(KeepsakeError) in
      try device.tables.write { connection in
        try connection.rotate(
          to: id, since: mark, unless: Connection.isInSender, at: device.clock.milliseconds)
        try giver.tables.checkUnchanged()
        return ((), [])
      }
    }
    sides[place] = try MergeSide(device)
    report.events.append(.newReplicaID(device: place, reason: .copy))
    try hooks.step(.rotated)
  }

  /// If this file may have written beside a twin: the last mark up to which the other file has
  /// surely read this one, and not the twin. Nil if it has no twin.
  ///
  /// It may have one if both files have one replica ID, or if the other has read a mark that is not
  /// in this file's history. A mark may be too old to tell: a file keeps those that others have
  /// noted, so it is taken for a twin's, unless the other file, or one of which it is a copy, has
  /// read a later mark of this file.
  private func lastRead(of place: Int, by other: Int) throws(KeepsakeError) -> Mark? {
    let (side, reader) = (sides[place], sides[other])
    if side.id == reader.id {
      return try side.device.tables.attaching(reader.device) { () throws(KeepsakeError) in
        try side.device.tables.access { try $0.marks.lastShared() }
      }
    }
    let own = (reader.formerIDs + [reader.id]).map { side.ownMark(for: $0).sequenceNumber }.max()
    let hasAll = try hasMarks(place, notedBy: other) { $0.sequenceNumber <= own ?? 0 }
    return hasAll ? nil : side.ownMark(for: reader.id)
  }

  /// Whether a file's history has the marks up to which another one has read it.
  ///
  /// - Parameter isOwn: what is assumed of a mark that is too old to tell.
  func hasMarks(
    _ place: Int, notedBy other: Int, ifTooOld isOwn: (Mark) -> Bool
  ) throws(KeepsakeError) -> Bool {
    guard let rows = sides[other].peers[sides[place].id] else { return true }
    let marks = Set(rows.values.map(\.cursor)).subtracting([.start, sides[place].mark])
    if marks.isEmpty { return true }
    return try sides[place].device.tables.read { connection in
      try marks.allSatisfy { try connection.marks.contains($0) ?? isOwn($0) }
    }
  }
}

extension Connection {
  fileprivate static let isInSender = """
    EXISTS (SELECT 1 FROM sender.entry AS s WHERE s.store = e.store AND s.key = e.key
      AND s.timestamp = e.timestamp AND s.replica_id = e.replica_id AND s.type = e.type
      AND s.value IS e.value)
    """

  /// Gives this file a new replica ID. Its own entries after a mark, the last that it shares with
  /// its twin for sure, get the new ID, unless the other side has the very same row: the old ID is
  /// the twin's too, and vectors that cover the twin's writes must not cover these. They get new
  /// sequence numbers, because a hub may have them under the old ID.
  ///
  /// - Parameter condition: which entries `e` the other side has.
  func rotate(
    to id: ReplicaID, since mark: Mark, unless condition: String, at now: Int64
  ) throws {
    var replica = try ReplicaState(self)
    let stores = try storesOfOwnWrites()
    _ = try entries.rewrite(
      where: """
        \(Self.isSynced("e.store")) AND e.replica_id = ?4 AND e.sequence_number > ?5
        AND NOT (\(condition))
        """, [.integer(replica.id.rawValue), .integer(mark.sequenceNumber)],
      by: "e.sequence_number", as: id, &replica)
    for store in stores {
      // Entries of other stores keep the old ID.
      let time = StoreName.isSynced(store.string) ? mark.timestamp : replica.last
      try raiseSeen(store, replica.id, to: time)
    }
    try rename(id, reason: .copy, at: now, &replica)
  }
}
