// SPDX-License-Identifier: Apache-2.0
//
// Only the last file is merged into; the others may be on read-only media. A source that can be
// written is marked, and so read once. Of another one, the rows after its last mark are read again
// each time. If that one was set back it would need a new replica ID: it is refused.

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
    try refresh(into)
    var stores = Self.stores(options.stores, of: [sides[from], sides[into]])
    let marksGiver = !sides[from].device.isReadOnly && options.marksSources
    if try isEarlierState(from, of: into) {
      // Marks say nothing of stores that are not synced.
      stores = stores.filter { !StoreName.isSynced($0.string) }
      if stores.isEmpty { return }
    } else if marksGiver {
      try separate(into, from: from)
      try separate(from, from: into)
    } else {
      try refuseSetBack(from, by: into)
      try separate(into, from: from)
    }
    let (source, target) = (sides[from], sides[into])
    // The next merge both ways can still tell that the target lacks forgotten deletions.
    let unread = source.deletionsUnread(by: target, stores)
    let noted = stores.filter { !unread.contains($0) }
    var pull = Pull(self, from, into: into, stores)
    pull.marksGiver = marksGiver
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
    let hasNewMark = try source.device.core.write { connection in
      (try connection.peers.update(target, stores) { $0.note(own: mark, at: nil) }, [])
    }
    if hasNewMark { try hooks.step(.noted) }
  }

  /// Whether all that a file has was in the other's history, as of a backup.
  private func isEarlierState(_ place: Int, of other: Int) throws(KeepsakeError) -> Bool {
    let side = sides[place]
    guard side.mark != .start, side.isMarked else { return false }
    return try sides[other].device.core.read { try $0.marks.contains(side.mark) } == true
  }

  /// A vector that covers the writes of its twin would hide those of the source.
  private func refuseSetBack(_ place: Int, by other: Int) throws(KeepsakeError) {
    guard try !hasMarks(place, notedBy: other, ifTooOld: { _ in true }) else { return }
    throw KeepsakeError(
      .readOnly, path: sides[place].device.path,
      "it is a copy or an older state of a file that the target has read, and only a merge both"
        + " ways can tell the two apart", cure: "merge it, or a copy of it, both ways")
  }
}
