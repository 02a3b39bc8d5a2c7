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
    let last = devices.count - 1
    try refuseUnwritable([last])
    for place in 0..<last { try mergeOneWay(from: place, into: last) }
    report.hasConverged = report.isComplete
    let stores = self.stores.map(\.string)
    for device in devices.dropLast() where report.hasConverged {
      report.hasConverged =
        try Difference.all(device, devices[last], stores: stores, limit: 1).isEmpty
    }
  }

  private mutating func mergeOneWay(from: Int, into: Int) throws(KeepsakeError) {
    report.expect(from: from, into: into)
    // A source before this one may have changed it.
    try refresh(into)
    let (giver, target) = (devices[from], devices[into])
    var stores = options.stores == nil
      ? Self.syncedStores(of: [sides[from], sides[into]]) : self.stores
    let marksGiver = !giver.isReadOnly && options.marksSources
    var doubt: Incoming.Doubt?
    if try isEarlierState(giver, of: target) {
      // Marks say nothing of stores that are not synced.
      stores = stores.filter { !StoreName.isSynced($0.string) }
      if stores.isEmpty { return }
    } else {
      try separate(into, from: from)
      if marksGiver {
        try separate(from, from: into)
      } else if try !hasMarks(from, notedBy: into, ifTooOld: { _ in true }) {
        let shared = sides[from].ownMark(for: sides[into].id)
        doubt = Incoming.Doubt(replicaID: sides[from].id, after: shared.timestamp)
      }
    }
    let side = sides[into]
    var pull = Pull(self, from, into: into, stores)
    (pull.marksGiver, pull.doubt) = (marksGiver, doubt)
    let (_, (noted, read)) = try run(pull) { [source] connection, result, giver in
      // The next merge both ways can still tell that the target lacks forgotten deletions.
      let noted = stores.filter {
        giver.forgotten[$0] ?? 0 <= side.cursor(giver.id, $0).sequenceNumber && doubt == nil
      }
      let read = result.markBeforeUnread ?? giver.mark
      try connection.peers.update(giver.id, noted) { $0.cursor = read }
      _ = try connection.marks.add(source)
      return (noted, read)
    }
    try hooks.step(.pulled)
    if marksGiver { try note(read, of: from, noted, readBy: side.id) }
  }

  /// Notes in a source that the target has read it: without the mark, the source would look like a
  /// copy.
  private func note(
    _ mark: Mark, of from: Int, _ stores: [ByteText], readBy target: ReplicaID
  ) throws(KeepsakeError) {
    let known = sides[from].peers[target] ?? [:]
    let news = stores.filter { StoreName.isSynced($0.string) && known[$0]?.own ?? .start != mark }
    guard !news.isEmpty else { return }
    let hasNewMark = try devices[from].core.write { connection in
      (try connection.peers.update(target, stores) { $0.note(own: mark, at: nil) }, [])
    }
    if hasNewMark { try hooks.step(.noted) }
  }

  /// Whether all that a file has was in the other's history, as of a backup.
  private func isEarlierState(
    _ giver: Device, of target: Device
  ) throws(KeepsakeError) -> Bool {
    let (mark, isCurrent) = try giver.core.read { try $0.marks.state() }
    guard mark != .start, isCurrent else { return false }
    return try target.core.read { try $0.marks.contains(mark) } == true
  }
}
