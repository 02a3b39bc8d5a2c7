// SPDX-License-Identifier: Apache-2.0
//
// Only the last file is merged into; the others may be on read-only media. A source that can be
// written is marked, and so read once. Of another one, the rows after its last mark are read again
// each time.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  mutating func mergeOneWay() throws(KeepsakeError) {
    let last = devices.count - 1
    try refuseUnwritable([last])
    for place in 0..<last { try mergeOneWay(from: place, into: last) }
    report.hasConverged = !report.isWaiting && !hasSkipped
    let stores = self.stores
    for device in devices.dropLast() where report.hasConverged {
      report.hasConverged = try !Difference.exists(device, devices[last], stores: stores)
    }
  }

  private mutating func mergeOneWay(from: Int, into: Int) throws(KeepsakeError) {
    report.expect(from: from, into: into)
    // A source before this one may have changed it.
    sides[into] = try MergeSide(devices[into])
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
      } else if let mark = try lastRead(of: from, by: into) {
        doubt = Incoming.Doubt(replicaID: sides[from].id, after: mark.timestamp)
      }
    }
    let side = sides[into]
    let (_, (noted, read)) = try pull(
      from, into: into, stores, marksGiver: marksGiver, doubt: doubt
    ) { [source] connection, result, giver in
      // The next merge both ways can still tell that the target lacks forgotten deletions.
      let noted = stores.filter {
        giver.forgotten[$0] ?? 0 <= side.cursor(giver.id, $0).sequenceNumber
      }
      let read = result.markBeforeWaiting ?? giver.mark
      try connection.peers.update(giver.id, noted) { $0.cursor = read }
      _ = try connection.marks.add(source)
      return (noted, read)
    }
    try hooks.step(.pulled)
    guard marksGiver else { return }
    // The source keeps the mark: without it, it would look like a copy.
    let hasNewMark = try giver.core.write { connection in
      (try connection.peers.update(side.id, noted) { $0.note(own: read, at: nil) }, [])
    }
    if hasNewMark { try hooks.step(.noted) }
  }

  /// Whether all that a file has was in the other's history, as of a backup.
  private func isEarlierState(
    _ giver: Device, of target: Device
  ) throws(KeepsakeError) -> Bool {
    let (mark, number) = try giver.core.read {
      (try $0.marks.newest(), try $0.marks.newestNumber())
    }
    guard mark != .start, mark.sequenceNumber == number else { return false }
    return try target.core.read { try $0.marks.contains(mark) } == true
  }
}
