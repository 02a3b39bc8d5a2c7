// SPDX-License-Identifier: Apache-2.0
//
// Merges of two and more files: each into the first, then the first into each.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// What the first file has read of another one.
  private struct FirstPull {
    let place: Int
    /// The other file's mark.
    let mark: Mark
    /// The mark that the first file has noted.
    let read: Mark
    /// The numbers that the first file has given to rows of the other one.
    let taken: NumberRanges
  }

  /// Up to where the first file and another one have read each other.
  private struct Note {
    let place: Int
    /// The other file's mark.
    let read: Mark
    /// The first file's mark.
    let back: Mark
  }

  mutating func mergeBothWays() throws(KeepsakeError) {
    try refuseUnwritable(devices.indices)
    try separateCopies()
    let stores = self.stores
    // What each file has forgotten is judged by the cursors before the first pull.
    var pulls: [FirstPull] = []
    for other in devices.indices.dropFirst() {
      pulls.append(try pullIntoFirst(other, stores))
      try hooks.step(.pulled)
    }
    var (notes, hasUnread): ([Note], Bool) = ([], false)
    for pull in pulls {
      let (note, isUnread) = try pullBack(pull, stores)
      notes.append(note)
      hasUnread = hasUnread || isUnread
      try hooks.step(.pulledBack)
    }
    try noteInFirst(notes, stores)
    try finish(stores, notes[0].back, hasUnread)
  }

  /// Another file into the first one. The last of these transactions marks the first file.
  private mutating func pullIntoFirst(
    _ other: Int, _ stores: [ByteText]
  ) throws(KeepsakeError) -> FirstPull {
    let isLast = other == devices.count - 1
    let inFull = sides[0].storesInFull(of: sides[other], stores)
    let (result, (mark, read)) = try pull(other, into: 0, stores, inFull: inFull) {
      [source] connection, result, giver in
      let read = result.markBeforeWaiting ?? giver.mark
      try connection.peers.update(giver.id, stores) { $0.cursor = read }
      if isLast { _ = try connection.marks.add(source) }
      return (giver.mark, read)
    }
    return FirstPull(place: other, mark: mark, read: read, taken: result.taken)
  }

  /// The first file into another one.
  ///
  /// - Returns: also whether the other file has anything that the first one has not read.
  private mutating func pullBack(
    _ pulled: FirstPull, _ stores: [ByteText]
  ) throws(KeepsakeError) -> (Note, isUnread: Bool) {
    let place = pulled.place
    let inFull = sides[place].storesInFull(of: sides[0], stores)
    let now = devices[place].clock.milliseconds
    return try pull(0, into: place, stores, inFull: inFull, except: pulled.taken) {
      [source] connection, result, giver in
      let new = try connection.newNumbers(after: pulled.mark, except: result.taken)
      var read = pulled.read
      // If there is nothing new but what was just taken, the next mark counts as read.
      if new.hasAny, !new.hasOthers, pulled.read == pulled.mark {
        read = try connection.marks.add(source)
      }
      let back = result.markBeforeWaiting ?? giver.mark
      try connection.peers.update(giver.id, stores) {
        $0.cursor = back
        $0.note(own: read, at: now)
      }
      return (Note(place: place, read: read, back: back), new.hasOthers)
    }.1
  }

  /// Notes in the first file up to where it and the others have read each other.
  private func noteInFirst(_ notes: [Note], _ stores: [ByteText]) throws(KeepsakeError) {
    let now = devices[0].clock.milliseconds
    let hasNewMark = try devices[0].core.write { [sides] connection in
      var hasNewMark = false
      for note in notes {
        let isNew = try connection.peers.update(sides[note.place].id, stores) {
          $0.cursor = note.read
          $0.note(own: note.back, at: now)
        }
        hasNewMark = hasNewMark || isNew
      }
      return (hasNewMark, [])
    }
    if hasNewMark { try hooks.step(.noted) }
  }

  private mutating func finish(
    _ stores: [ByteText], _ mark: Mark, _ hasUnread: Bool
  ) throws(KeepsakeError) {
    let newest = try devices[0].core.read { try $0.marks.newestNumber() }
    report.hasConverged =
      !report.isWaiting && !hasSkipped && !hasUnread && newest == mark.sequenceNumber
    // A store that is not synced keeps no tombstones, so a deletion leaves nothing to read.
    let local = stores.filter { !StoreName.isSynced($0.string) }
    for device in devices.dropFirst() where report.hasConverged && !local.isEmpty {
      report.hasConverged = try !Difference.exists(device, devices[0], stores: local)
    }
  }
}

extension Connection {
  /// Whether synced stores have changed after a mark, and whether by others than these numbers.
  fileprivate func newNumbers(
    after mark: Mark, except taken: NumberRanges
  ) throws -> (hasAny: Bool, hasOthers: Bool) {
    func hasAny(_ lower: Int64, _ upper: Int64) throws -> Bool {
      try first(
        """
        SELECT 1 FROM entry INDEXED BY entry_sequence
        WHERE sequence_number > ?1 AND sequence_number <= ?2 AND \(Self.isSynced("store")) LIMIT 1
        """, [.integer(lower), .integer(upper)]
      ) { _ in true } ?? false
    }
    let any = try hasAny(mark.sequenceNumber, .max)
    let others = try taken.gaps(after: mark.sequenceNumber, through: .max)
      .contains { try hasAny($0.lower, $0.upper) }
    return (any, any && others)
  }
}
