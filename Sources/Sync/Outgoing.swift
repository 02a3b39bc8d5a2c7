// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a reader that cannot attach a device's file has still to read of it.
struct Outgoing {
  /// By local sequence number.
  var rows: [Entry] = []
  /// The local sequence number of the last of them.
  private var last: Int64 = 0
  /// Local sequence numbers of entries that are passed over: the reader takes none so large, or
  /// their key or value is text, but no UTF-8. No device writes such, and no message can carry it:
  /// repaired, they would be other keys and other values.
  var unsent: [Int64] = []
  /// Up to where there are no others.
  var through: Int64
  var isLast = true
  /// The version vector of the device, with the last rows; nil when it has seen more since the
  /// offer.
  var seen: [HubRequest.Seen]?

  /// Reads the next rows of an offer from one snapshot, with the version vector if they are the
  /// last.
  ///
  /// - Parameters:
  ///   - pull: what is read of whom.
  ///   - place: the local sequence number after which to go on.
  ///   - reader: the one that the offer was made to.
  ///   - limit: of one reading.
  init(
    of pull: Pull, _ offer: Pull.Offer, after place: Int64, for reader: ReplicaID,
    _ limit: HubRequest.PageLimit, from device: Device
  ) throws(KeepsakeError) {
    self = try device.core.read { connection in
      for store in pull.stores {
        let state = try connection.peers.state(of: reader, store: store)
        guard state.token == offer.token else { throw MergeRetry.interrupted(device.path) }
      }
      try connection.want(pull.stores, from: pull.cursors)
      var outgoing = Outgoing(through: offer.lseq)
      var bytes = 0
      let collected =
        try connection.first("SELECT gc_lseq FROM replica") { $0.integer(0) } ?? 0
      try connection.run(
        collected > place ? Self.unreadWithGraves : Self.unread,
        [
          .integer(place), .integer(offer.lseq), .integer(pull.echo.lower),
          .integer(pull.echo.upper),
        ]
      ) { row in
        guard outgoing.rows.count < limit.rows, bytes < limit.bytes else {
          outgoing.isLast = false
          return false
        }
        outgoing.through = row.integer(6)
        guard row.isUTF8(1), row.isUTF8(3) else {
          outgoing.unsent.append(outgoing.through)
          return true
        }
        outgoing.last = outgoing.through
        let entry = row.entry(Address(store: row.text(0), key: row.text(1)), from: 2)
        outgoing.rows.append(entry)
        bytes += entry.address.key.string.utf8.count + entry.content.cell.byteCount
        return true
      }
      if outgoing.isLast {
        outgoing.through = offer.lseq
        let hasMore = try Pull.hasMore(connection, in: "main", after: offer.lseq)
        if !hasMore { outgoing.seen = try VersionVectors.own(connection) }
      }
      return outgoing
    }
  }

  private init(through: Int64) { self.through = through }

  /// Passes over its only row, which the reader does not take, and ends there.
  mutating func passOver() {
    withholdSeen()
    unsent.append(last)
    rows = []
  }

  /// Ends with its last row, without the version vector, which follows. It does nothing without
  /// rows.
  mutating func withholdSeen() {
    guard !rows.isEmpty else { return }
    unsent = unsent.filter { $0 < last }
    (through, isLast, seen) = (last, false, nil)
  }

  /// Writes down what is passed over, before it is: later nobody would know.
  ///
  /// - Parameters:
  ///   - pull: what was read of whom.
  ///   - place: the local sequence number after which it was read.
  func noteUnsent(
    of pull: Pull, after place: Int64, by hub: ReplicaID, on device: Device
  ) throws(KeepsakeError) {
    let known = try device.core.access { connection in
      try connection.want(pull.stores, from: pull.cursors)
      return try connection.unsent.entries(of: hub, after: place, through: through)
    }
    guard known != unsent else { return }
    try device.core.write { connection in
      try connection.want(pull.stores, from: pull.cursors)
      try connection.unsent.replace(with: unsent, of: hub, after: place, through: through)
      return ((), [])
    }
  }

  private static let unread = """
    SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin, e.lseq
    FROM main.entry AS e INDEXED BY entry_lseq CROSS JOIN wanted AS w ON w.store = e.store
    WHERE \(isUnread) ORDER BY e.lseq
    """

  /// Collected deletions too, but for those that a later entry has replaced. The last of them has
  /// the local sequence number of the last collection at most.
  private static let unreadWithGraves = """
    SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin, e.lseq FROM (
      SELECT store, key, tag, value, hlc, origin, lseq
      FROM main.entry INDEXED BY entry_lseq WHERE lseq > ?1 AND lseq <= ?2
      UNION ALL
      SELECT g.store, g.key, 0, NULL, g.hlc, g.origin, g.lseq FROM main.grave AS g
      WHERE g.lseq > ?1 AND g.lseq <= ?2 AND NOT EXISTS (
        SELECT 1 FROM main.entry AS n WHERE n.store = g.store AND n.key = g.key)) AS e
    JOIN wanted AS w ON w.store = e.store
    WHERE \(isUnread) ORDER BY e.lseq
    """

  private static let isUnread = """
    e.lseq > ?1 AND e.lseq <= ?2 AND e.lseq > w.cursor AND NOT (e.lseq > ?3 AND e.lseq <= ?4)
      AND \(PullPlan.isSound)
    """
}
