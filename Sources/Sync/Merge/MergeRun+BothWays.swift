// SPDX-License-Identifier: Apache-2.0
//
// Merges of two and more files: each into the first, then the first into each.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// Up to where the first file and another one have read each other.
  private struct Exchange {
    /// The other file.
    let place: Int
    /// The mark of the other file when the first one read it.
    let mark: Mark
    /// The other file's mark up to which the first one has read it.
    var read: Mark
    /// The numbers that the first file has given to rows of the other one.
    let taken: NumberRanges
    /// The first file's mark up to which the other one has read it.
    var back = Mark.start
    /// Whether the first file has read everything that the other one has.
    var isRead = false
  }

  mutating func mergeBothWays() throws(KeepsakeError) {
    try refuseUnwritable(sides.indices)
    for place in sides.indices {
      for other in sides.indices.dropFirst(place + 1) {
        try separate(other, from: place)
        try separate(place, from: other)
      }
    }
    // Applications may have written to stores that are new.
    for place in sides.indices { sides[place] = try MergeSide(sides[place].device) }
    let stores = self.stores
    // What each file has forgotten is judged by the cursors before the first pull.
    var exchanges: [Exchange] = []
    for other in sides.indices.dropFirst() {
      exchanges.append(try pullIntoFirst(other, stores))
      try hooks.step(.pulled)
    }
    for place in exchanges.indices {
      try pullBack(&exchanges[place], stores)
      try hooks.step(.pulledBack)
    }
    // If each file has read the first one up to the same mark, and the first one each to the end.
    report.hasConverged =
      report.isComplete
      && exchanges.allSatisfy { $0.isRead && $0.back == exchanges[0].back }
    try noteInFirst(exchanges, stores)
  }

  /// Whether two files have read each other to the end. Then a merge would write nothing.
  func hasNothingNew() -> Bool {
    guard sides.count == 2, sides[0].id != sides[1].id else { return false }
    return sides[0].hasAll(of: sides[1], stores) && sides[1].hasAll(of: sides[0], stores)
  }

  /// Notes the time, once a day.
  mutating func noteNothing() throws(KeepsakeError) {
    for (other, place) in [(1, 0), (0, 1)] {
      report.expect(from: other, into: place)
      let (side, peer) = (sides[place], sides[other].id)
      let now = side.device.clock.milliseconds
      guard side.peers[peer]?.values.contains(where: { $0.isDue(at: now) }) == true else {
        continue
      }
      try side.device.tables.write { connection in
        try connection.peers.update(peer, stores) { $0.note(own: side.mark, at: now) }
        return ((), [])
      }
    }
    report.hasConverged = true
  }

  /// Another file into the first one. The last of these transactions marks the first file.
  private mutating func pullIntoFirst(
    _ other: Int, _ stores: [ByteText]
  ) throws(KeepsakeError) -> Exchange {
    let isLast = other == sides.count - 1
    let (result, (mark, read)) = try run(
      Pull(self, from: other, into: 0, stores: stores, inFull: true)
    ) { [source] connection, result, giver in
      let read = result.markBeforeUnread ?? giver.mark
      try connection.peers.update(giver.id, stores) { $0.cursor = read }
      if isLast { _ = try connection.marks.add(source) }
      return (giver.mark, read)
    }
    return Exchange(place: other, mark: mark, read: read, taken: result.taken)
  }

  /// The first file into another one.
  private mutating func pullBack(
    _ exchange: inout Exchange, _ stores: [ByteText]
  ) throws(KeepsakeError) {
    var pull = Pull(self, from: 0, into: exchange.place, stores: stores, inFull: true)
    pull.skipped = exchange.taken
    let (now, before) = (sides[exchange.place].device.clock.milliseconds, exchange)
    (_, exchange) = try run(pull) { [source] connection, result, giver in
      var after = before
      let new = try connection.newNumbers(after: before.mark, except: result.taken)
      // If there is nothing new but what was just taken, the next mark counts as read.
      if new.hasAny, !new.hasOthers, before.read == before.mark {
        after.read = try connection.marks.add(source)
      }
      (after.back, after.isRead) = (result.markBeforeUnread ?? giver.mark, !new.hasOthers)
      try connection.peers.update(giver.id, stores) {
        $0.cursor = after.back
        $0.note(own: after.read, at: now)
      }
      return after
    }
  }

  /// Notes in the first file up to where it and the others have read each other.
  private func noteInFirst(
    _ exchanges: [Exchange], _ stores: [ByteText]
  ) throws(KeepsakeError) {
    let device = sides[0].device
    let now = device.clock.milliseconds
    let hasNewMark = try device.tables.write { connection in
      let changes = try exchanges.map { exchange in
        try connection.peers.update(sides[exchange.place].id, stores) {
          $0.cursor = exchange.read
          $0.note(own: exchange.back, at: now)
        }
      }
      return (changes.contains(true), [])
    }
    if hasNewMark { try hooks.step(.noted) }
  }
}

extension Connection {
  private static let anySynced = """
    SELECT 1 FROM entry INDEXED BY entry_sequence
    WHERE sequence_number > ?1 AND sequence_number <= ?2 AND \(isSynced("store")) LIMIT 1
    """

  /// Whether synced stores have changed after a mark, and whether by others than these numbers.
  fileprivate func newNumbers(
    after mark: Mark, except taken: NumberRanges
  ) throws -> (hasAny: Bool, hasOthers: Bool) {
    func hasAny(above lower: Int64, through upper: Int64) throws -> Bool {
      try first(Self.anySynced, [.integer(lower), .integer(upper)]) { _ in true } ?? false
    }
    let any = try hasAny(above: mark.sequenceNumber, through: .max)
    let others = try taken.gaps(after: mark.sequenceNumber, through: .max)
      .contains { try hasAny(above: $0.lower, through: $0.upper) }
    return (any, any && others)
  }
}
