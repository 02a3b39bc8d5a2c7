// SPDX-License-Identifier: Apache-2.0
//
// Rows of another file, or of a hub, that are applied one by one, within a write.

package import KeepsakeValues

package struct Incoming {
  /// The writes of this file that the other side has read.
  package struct Giver {
    /// Its version vectors, with its own writes.
    package var vectors: [ByteText: [ReplicaID: HybridTimestamp]] = [:]
    /// Per store, up to which number it has read this file.
    package var sent: [ByteText: Int64] = [:]
    /// Lower numbers that a hub was not sent all the same.
    package var held: Set<Int64> = []
    /// Its own writes after a time that this file may not have read, though its vectors cover them:
    /// the other side was set back, and a twin of it may have written meanwhile.
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
  /// The file when the page began.
  private let replica: ReplicaState
  /// Milliseconds since 1970.
  private let now: Int64
  private var outcome = Outcome()
  /// Losers that are not logged yet, with what they lost to.
  private var losers: [(lost: Entry, won: Entry)] = []
  /// Bytes of their values.
  private var bytes = 0

  // These belong to the store of the last row.
  private var store = ByteText("")
  private var vector: [ReplicaID: HybridTimestamp] = [:]
  private var sent: Int64 = 0
  /// Version vector of this file, as far as it was asked for.
  private var seen: [ReplicaID: HybridTimestamp] = [:]

  private init(_ connection: Connection, _ giver: Giver, _ replica: ReplicaState, _ now: Int64) {
    (self.connection, self.giver, self.replica, self.now) = (connection, giver, replica, now)
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
    let isSent = local.map { $0.number <= sent && !giver.held.contains($0.number) } ?? false
    let decision = try decide(
      local: local?.entry, incoming: entry, receiverCovers: try covers(entry),
      giverCovers: isSent || local.map { giverCovers($0.entry) } ?? false)
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
      // The other side has read the local row once, and has forgotten it.
      replica.sequenceNumber += 1
      try connection.entries.renumber(entry.address, as: replica.sequenceNumber)
    }
  }

  private mutating func begin(_ store: ByteText) {
    (self.store, seen) = (store, [:])
    (vector, sent) = (giver.vectors[store] ?? [:], giver.sent[store] ?? 0)
  }

  private func giverCovers(_ entry: Entry) -> Bool {
    vector[entry.replicaID].map { entry.timestamp <= $0 } ?? false
  }

  private mutating func covers(_ entry: Entry) throws -> Bool {
    let isDoubted = giver.doubted.map { $0.writer == entry.replicaID && $0.after < entry.timestamp }
    if isDoubted == true { return false }
    if entry.replicaID == replica.id, entry.timestamp <= replica.last { return true }
    if seen[entry.replicaID] == nil {
      let none = HybridTimestamp(rawValue: -1)
      seen[entry.replicaID] = try connection.seen(store, entry.replicaID) ?? none
    }
    return seen[entry.replicaID].map { entry.timestamp <= $0 } ?? false
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
