// SPDX-License-Identifier: Apache-2.0
//
// Rows of another file, or of a hub, that are applied one by one, within a write.

package import KeepsakeValues

package struct Incoming {
  /// Which writes the giver of the rows has read: the other file, or the devices of a hub.
  package struct Giver {
    /// Per store and writer the time up to which the giver has read, or has written itself.
    package var vectors: [ByteText: [ReplicaID: HybridTimestamp]] = [:]
    /// Per store the number up to which the giver has read the receiver.
    package var cursors: [ByteText: Int64] = [:]
    /// Lower numbers of the receiver that a hub has not got yet.
    package var held: Set<Int64> = []
    /// The giver's own writes after this time, which the receiver may not have read though its
    /// vectors cover them: the giver was set back, and a twin of it may have written meanwhile.
    package var doubted: (writer: ReplicaID, after: HybridTimestamp)?

    package init() {}
  }

  /// The result of a page that was applied.
  package struct Outcome {
    /// Rows that are not from the future.
    package var received = 0
    /// Rows that were written.
    package var applied = 0
    /// The sequence numbers that they have got.
    package var numbers = NumberRanges()
    /// Losers that were added to the log.
    package var conflicts = 0
    /// Older conflicts that the log dropped.
    package var droppedConflicts = 0
    /// Whether there were losers, also such that were in the log already.
    package var hasLosers = false
  }

  /// Bytes of values after which losers are logged within a page: 16 MiB.
  private static let loserBytes = 1 << 24

  private let connection: Connection
  private let giver: Giver
  /// The receiver before the page, whose rows raise its clock.
  private let replicaAtStart: ReplicaState
  /// Milliseconds since 1970.
  private let now: Int64
  private var outcome = Outcome()
  /// Losers that are not logged yet, with what they lost to.
  private var losers: [(lost: Entry, won: Entry)] = []
  /// Bytes of their values.
  private var bytes = 0

  // These belong to the store of the last row.
  private var store = ByteText("")
  private var giverVector: [ReplicaID: HybridTimestamp] = [:]
  private var giverCursor: Int64 = 0
  /// The receiver's vector, as far as it was needed.
  private var receiverVector: [ReplicaID: HybridTimestamp] = [:]

  private init(_ connection: Connection, _ giver: Giver, _ replica: ReplicaState, _ now: Int64) {
    (self.connection, self.giver, self.now) = (connection, giver, now)
    replicaAtStart = replica
  }

  /// Applies a page.
  ///
  /// - Parameters:
  ///   - horizon: later rows are not read yet.
  ///   - replica: its counters go on.
  ///   - now: milliseconds since 1970.
  ///   - onChange: called with an applied row and what it replaces, if applications read something
  ///     else than before.
  package static func apply(
    _ entries: [Entry], of giver: Giver, _ connection: Connection, upTo horizon: HybridTimestamp,
    _ replica: inout ReplicaState, at now: Int64, onChange: (Entry, TaggedCell) -> Void
  ) throws -> Outcome {
    var page = Incoming(connection, giver, replica, now)
    for entry in entries where entry.timestamp <= horizon {
      page.outcome.received += 1
      replica.last = max(replica.last, entry.timestamp)
      try page.apply(entry, &replica, onChange)
    }
    try page.writeLog()
    return page.outcome
  }

  private mutating func apply(
    _ entry: Entry, _ replica: inout ReplicaState, _ onChange: (Entry, TaggedCell) -> Void
  ) throws {
    if entry.address.store != store { begin(entry.address.store) }
    let local = try connection.numberedEntry(at: entry.address)
    let isSent = local.map { giverHasRead($0.number) } ?? false
    let decision = try decide(
      local: local?.entry, incoming: entry, receiverCovers: try receiverCovers(entry),
      giverCovers: isSent || (local.map { giverCovers($0.entry) } ?? false))
    if let loser = decision.loser, let local {
      try loser == .local
        ? add(local.entry, lostTo: entry) : add(entry, lostTo: local.entry)
    }
    if decision.applies {
      replica.sequenceNumber += 1
      try connection.entries.put(entry, as: replica.sequenceNumber)
      outcome.applied += 1
      outcome.numbers.append(replica.sequenceNumber...replica.sequenceNumber)
      let old = local?.entry.content ?? .tombstone
      if old != entry.content { onChange(entry, old) }
    } else if isSent, local?.entry != entry {
      // The giver has read the local row once, and has forgotten it.
      replica.sequenceNumber += 1
      try connection.entries.renumber(entry.address, as: replica.sequenceNumber)
    }
  }

  private mutating func begin(_ store: ByteText) {
    (self.store, receiverVector) = (store, [:])
    (giverVector, giverCursor) = (giver.vectors[store] ?? [:], giver.cursors[store] ?? 0)
  }

  /// Whether the giver has read the row of the receiver that has this number.
  private func giverHasRead(_ number: Int64) -> Bool {
    number <= giverCursor && !giver.held.contains(number)
  }

  private func giverCovers(_ entry: Entry) -> Bool {
    giverVector[entry.replicaID].map { entry.timestamp <= $0 } ?? false
  }

  private mutating func receiverCovers(_ entry: Entry) throws -> Bool {
    let isDoubted = giver.doubted.map { $0.writer == entry.replicaID && $0.after < entry.timestamp }
    if isDoubted == true { return false }
    if entry.replicaID == replicaAtStart.id, entry.timestamp <= replicaAtStart.last { return true }
    if receiverVector[entry.replicaID] == nil {
      let none = HybridTimestamp(rawValue: -1)
      receiverVector[entry.replicaID] = try connection.seen(store, entry.replicaID) ?? none
    }
    return receiverVector[entry.replicaID].map { entry.timestamp <= $0 } ?? false
  }

  private mutating func add(_ lost: Entry, lostTo won: Entry) throws {
    outcome.hasLosers = true
    losers.append((lost, won))
    bytes += lost.content.cell.byteCount + won.content.cell.byteCount
    if bytes > Self.loserBytes { try writeLog() }
  }

  /// Logs the losers. Losers that the log would drop at once are only counted, anew if an
  /// interrupted pull reads their page again.
  private mutating func writeLog() throws {
    let log = connection.conflictLog
    let kept = losers.suffix(ConflictLog.capacity)
    var added = losers.count - kept.count
    if added > 0 { try log.skip(added) }
    outcome.droppedConflicts += added
    for (lost, won) in kept where try log.add(lost, lostTo: won, at: now) { added += 1 }
    if added > 0 { outcome.droppedConflicts += try log.trim() }
    outcome.conflicts += added
    losers.removeAll()
    bytes = 0
  }
}

extension Row {
  /// The columns `type` and `value` from `column` on; a missing row of an outer join is a
  /// tombstone.
  package func content(_ column: Int32) -> TaggedCell {
    TaggedCell(tag: integer(column), cell: cell(column + 1))
  }
}
