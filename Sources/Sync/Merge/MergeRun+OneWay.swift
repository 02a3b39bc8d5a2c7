// SPDX-License-Identifier: Apache-2.0
//
// Only the last file is merged into; the others may be on read-only media. A source that can be
// written is marked, and so read once. Of another one, the rows after its last mark are read again
// each time. If that one was set back, its writes after the last mark that both share are doubted:
// vectors that cover them are those of its twin. No cursor is noted, so that the next merge doubts
// them, too.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  mutating func mergeOneWay() throws(KeepsakeError) {
    let last = sides.count - 1
    try refuseUnwritable([last])
    for place in 0..<last { try mergeOneWay(from: place, into: last) }
    report.hasConverged = report.isComplete
    let stores = self.stores.map(\.string)
    for side in sides.dropLast() where report.hasConverged {
      report.hasConverged =
        try Difference.all(side.device, sides[last].device, stores: stores, limit: 1).isEmpty
    }
  }

  private mutating func mergeOneWay(from: Int, into: Int) throws(KeepsakeError) {
    report.expect(from: from, into: into)
    // A source before this one may have changed it.
    sides[into] = try MergeSide(sides[into].device)
    var stores = Self.stores(options.stores, of: [sides[from], sides[into]])
    let marksGiver = !sides[from].device.isReadOnly && options.marksSources
    if try isEarlierState(from, of: into) {
      // Marks say nothing of stores that are not synced.
      stores = stores.filter { !StoreName.isSynced($0.string) }
      if stores.isEmpty { return }
    } else {
      try separate(into, from: from)
      if marksGiver { try separate(from, from: into) }
    }
    let (source, target) = (sides[from], sides[into])
    var pull = Pull(self, from: from, into: into, stores: stores)
    pull.marksGiver = marksGiver
    if try !hasMarks(from, notedBy: into, ifTooOld: { _ in true }) {
      pull.doubtedAfter = source.ownMark(for: target.id).timestamp
    }
    // The next merge both ways can still tell that the target lacks forgotten deletions.
    let unread = source.deletionsUnread(by: target, stores)
    let noted = stores.filter { !unread.contains($0) && pull.doubtedAfter == nil }
    let (_, read) = try run(pull) { [identities = self.source] connection, result, giver in
      let read = result.markBeforeUnread ?? giver.mark
      try connection.peers.update(giver.id, noted) { $0.cursor = read }
      _ = try connection.marks.add(identities)
      return read
    }
    try hooks.step(.pulled)
    if marksGiver { try note(read, in: source, noted, readBy: target.id) }
  }

  /// Notes in a source that the target has read it: without the mark, the source would look like a
  /// copy.
  private func note(
    _ mark: Mark, in source: MergeSide, _ stores: [ByteText], readBy target: ReplicaID
  ) throws(KeepsakeError) {
    let known = source.peers[target] ?? [:]
    let news = stores.filter { StoreName.isSynced($0.string) && known[$0]?.own ?? .start != mark }
    guard !news.isEmpty else { return }
    let hasNewMark = try source.device.tables.write { connection in
      (try connection.peers.update(target, stores) { $0.note(own: mark, at: nil) }, [])
    }
    if hasNewMark { try hooks.step(.noted) }
  }

  /// Whether all that a file has was in the other's history, as of a backup.
  private func isEarlierState(_ place: Int, of other: Int) throws(KeepsakeError) -> Bool {
    let side = sides[place]
    guard side.mark != .start, side.isMarked else { return false }
    return try sides[other].device.tables.read { try $0.marks.contains(side.mark) } == true
  }
}
