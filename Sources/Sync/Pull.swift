// SPDX-License-Identifier: Apache-2.0
//
// One direction of a merge: applies to the receiver what the sender accepted since the receiver
// last read it, in the transactions of a `PullPlan`.
//
// Invariants
// - The sender is attached read-only; only the receiver is written.
// - A cursor is written in the transaction that writes the rows it covers, so it never runs ahead.
// - Nothing is read that the sender accepted after it wrote the token, and the token is checked in
//   the transaction that reads. So a cursor never covers another state of the sender's file than
//   one that knows the token.

import KeepsakeDevice
import KeepsakeValues

package struct Pull {
  let sender: any Party
  /// Their places among the devices that are merged.
  let direction: (from: Int, into: Int)
  let senderID: ReplicaID
  let stores: [ByteText]
  /// Where to read on, in the order of `stores`.
  let cursors: [Int64]
  /// Of the sender's file; nil where its pages were not checked now.
  let measurement: Measurement?
  /// Nil for a one-way pull, which leaves no trace of who was met.
  let offer: Offer?
  /// Local sequence numbers of the sender that came from the receiver in this exchange.
  let echo: EchoRange
  let now: Int64
  let options: MergeOptions
  /// Why the receiver's values change.
  let reason: SettingChange.Reason
  /// Whether nothing is applied unless the sender has read everything of the receiver before: then
  /// the sender has found the conflicts.
  let needsReader: Bool

  /// Under which token, and how far, a receiver may read the sender.
  package struct Offer {
    let token: ExchangeToken
    let lseq: Int64
    /// Of a sender elsewhere: under which tokens the receiver had read it before, in the order of
    /// `stores`. Meanwhile it has been free to read under others.
    var remembered: [ExchangeToken?]?
  }

  package struct Result {
    var received = 0
    var changed = 0
    var held = 0
    var conflicts = 0
    /// Tombstones that the sender has still to read, because of what it sent.
    var answered = 0
    var losses: [Conflict] = []
    var changes: [SettingChange] = []
    /// Whether there were more changes than `changes` keeps.
    var hasMoreChanges = false
    /// Whether the sender had written on before it could be said what it had seen: the receiver has
    /// to read again.
    var isBehind = false
    /// The receiver's local sequence numbers that this pull gave.
    var written = EchoRange()
    /// Whether nothing that came in has met anything.
    fileprivate var isFresh = false
    /// How many changes and losses it keeps.
    fileprivate let limit: Int
    /// What is left of `Pull.reportBytes`.
    fileprivate var (changeBytes, lossBytes): (Int, Int)

    package init(changeLimit: Int) {
      limit = changeLimit
      let bytes = changeLimit == .max ? .max : Pull.reportBytes
      (changeBytes, lossBytes) = (bytes, bytes)
    }

    /// - Returns: false when there is no room for this one and those that follow.
    fileprivate mutating func keep(_ change: SettingChange, _ bytes: Int, limit: Int) -> Bool {
      hasMoreChanges = hasMoreChanges || changes.count >= limit || changeBytes <= 0
      changeBytes -= bytes
      if !hasMoreChanges { changes.append(change) }
      return !hasMoreChanges
    }
  }

  /// Bytes of values after which the result keeps no more changes or losses, unless it is to keep
  /// all: 16 MiB.
  private static let reportBytes = 1 << 24

  /// - Parameter result: gets what each transaction has committed, also when a later one fails.
  func run(into receiver: Device, _ result: inout Result) throws(KeepsakeError) {
    try sender.lend(to: receiver) { () throws(KeepsakeError) in
      let plan = try receiver.core.read { connection in
        try connection.want(stores, from: cursors)
        try VersionVectors.prepare(connection)
        return try PullPlan(
          connection, after: cursors.filter { $0 > 0 }.min(),
          through: try offer?.lseq ?? lastArrival(connection), except: echo,
          measurement: measurement, size: options.chunkSize, of: sender.name)
      }
      for place in plan.chunks.indices {
        try read(plan, place, into: receiver, &result)
        options.onProgress?(
          MergeProgress(
            from: direction.from, into: direction.into, received: result.received,
            fraction: Double(place + 1) / Double(plan.chunks.count)))
      }
    }
  }

  private func read(
    _ plan: PullPlan, _ place: Int, into receiver: Device, _ result: inout Result
  ) throws(KeepsakeError) {
    let before = result
    let isLast = place == plan.chunks.count - 1
    let wantsAll = receiver.hasObservers
    result = try receiver.core.write { connection in
      // A merge with a hub, which holds no lease meanwhile, may want others.
      try connection.want(stores, from: cursors)
      try checkSender(connection, plan)
      if needsReader, try hasUnread(connection, except: before.written) {
        throw MergeRetry.unread(receiver.path)
      }
      var step = before
      if place == 0 {
        try checkReceiver(connection)
        try VersionVectors.load(connection, of: sender.name)
        // What the sender accepted after its offer is in its version vector, and is not read.
        step.isBehind = try Self.hasMore(connection, in: "sender", after: plan.end)
      }
      let changes = try admit(connection, plan, place, wantsAll, keeping: before.limit, &step)
      try saveCursors(connection, plan, place)
      if isLast {
        try note(VersionVectors.logLost(connection, at: now), connection, before.limit, &step)
        if !step.isBehind {
          try VersionVectors.advance(
            connection, upTo: Held.horizon(now: now, skew: options.clockSkew))
        }
      }
      // An observer that is added now has missed the beginning: it gets whole change sets only.
      return (step, changes)
    }
  }

  /// Adds the newest conflicts of the log to the result.
  private func note(
    _ count: Int, _ connection: Connection, _ kept: Int, _ result: inout Result
  ) throws {
    guard count > 0 else { return }
    result.conflicts += count
    result.losses += try connection.conflictLog.conflicts(
      after: connection.conflictLog.last() - Int64(count), limit: kept - result.losses.count,
      within: &result.lossBytes)
  }

  private func admit(
    _ connection: Connection, _ plan: PullPlan, _ place: Int, _ wantsAll: Bool, keeping kept: Int,
    _ result: inout Result
  ) throws -> [SettingChange] {
    let source = plan.source(of: plan.chunks[place])
    var replica = try ReplicaState(connection)
    if !wantsAll, try meetsNothing(connection, replica, result) {
      let isDone = try insert(
        connection, source, plan.end, upTo: plan.newest[place], &replica, keeping: kept, &result)
      if isDone { return [] }
    }
    let received = try Incoming.fill(connection, from: source.sql, source.arguments)
    guard received > 0 else { return [] }
    result.received += received
    try connection.cutRevokedIncoming()
    try markUnknown(connection)
    let horizon = Held.horizon(now: now, skew: options.clockSkew)
    var newest = try newestTimestamp(connection)
    if newest > horizon {
      if sender.isHub {
        try note(
          VersionVectors.logWaiting(connection, beyond: horizon, at: now), connection, kept,
          &result)
      }
      result.held += try Held.hold(connection, beyond: horizon, at: now)
      newest = try newestTimestamp(connection)
    }
    let isFinal = isFinal(plan.chunks[place])
    try note(
      VersionVectors.logConflicts(connection, at: now, final: isFinal), connection, kept, &result)
    var changes: [SettingChange] = []
    if wantsAll || !result.hasMoreChanges {
      try Incoming.forEachChange(connection, reason: reason) { change, bytes in
        if wantsAll { changes.append(change) }
        return result.keep(change, bytes, limit: kept) || wantsAll
      }
    }
    // A sender that is only read keeps no memory of it.
    if offer != nil { result.answered += try Graves.reissue(connection, after: replica.lseq) }
    // A hub compares no values: of two copies that wrote at one moment it takes what it gets last.
    if sender.isHub {
      result.answered += try connection.entries.reissue(Self.ties, after: replica.lseq)
    }
    result.changed += try connection.entries.applyIncoming(after: replica.lseq)
    result.written.append(replica.lseq, replica.lseq + Int64(received))
    replica.last = max(replica.last, newest)
    replica.lseq += Int64(received)
    try replica.save(connection)
    return changes
  }

  /// Whether the cursor passes a chunk in the transaction that reads it.
  private func isFinal(_ chunk: PullPlan.Chunk) -> Bool {
    if case .arrivals = chunk { offer != nil } else { false }
  }

  /// Whether no key can collide: the receiver had no entry of these stores when the pull began and
  /// has collected none, and no other connection has written since.
  private func meetsNothing(
    _ connection: Connection, _ replica: ReplicaState, _ result: Result
  ) throws -> Bool {
    guard cursors.allSatisfy({ $0 == 0 }) else { return false }
    if result.received > 0 { return result.isFresh && result.written.upper == replica.lseq }
    return try connection.first(
      """
      SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM main.grave)
        AND NOT EXISTS (SELECT 1 FROM main.void)
        AND NOT EXISTS (SELECT 1 FROM wanted AS w CROSS JOIN main.entry AS e ON e.store = w.store)
      """
    ) { _ in true } ?? false
  }

  /// Inserts a chunk without looking up local entries.
  ///
  /// - Parameters:
  ///   - end: no entry has a larger local sequence number in its file.
  ///   - newest: nor a later timestamp, in this chunk, when it was measured. No device moves one
  ///     ahead in its row, but another program may.
  /// - Returns: false when some of it is from the future, or was moved there: nothing was done.
  private func insert(
    _ connection: Connection, _ source: (sql: String, arguments: [Cell]), _ end: Int64,
    upTo newest: HybridTimestamp, _ replica: inout ReplicaState, keeping kept: Int,
    _ result: inout Result
  ) throws -> Bool {
    // Of a file whose numbers are almost used up this one must not get the like.
    guard end < 1 << 40 else { return false }
    guard newest <= Held.horizon(now: now, skew: options.clockSkew) else { return false }
    let written = try connection.entries.insert(
      from: source.sql, source.arguments, upTo: newest, after: replica.lseq)
    guard let count = written else { return false }
    result.isFresh = true
    guard count > 0 else { return true }
    if !result.hasMoreChanges {
      try connection.run(
        "SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin \(source.sql)", source.arguments
      ) { row in
        let content = row.content(2)
        guard !content.isTombstone else { return true }
        let change = SettingChange(
          store: row.text(0), key: row.text(1), from: .tombstone, to: content,
          writer: ReplicaID(rawValue: row.integer(5)),
          timestamp: HybridTimestamp(rawValue: row.integer(4)), reason: reason)
        return result.keep(change, content.cell.byteCount, limit: kept)
      }
    }
    result.received += count
    result.changed += count
    result.written.append(replica.lseq, replica.lseq + end)
    replica.last = max(replica.last, newest)
    replica.lseq += end
    try replica.save(connection)
    return true
  }

  private static let ties = """
    FROM incoming AS i WHERE entry.store = i.store AND entry.key = i.key
      AND i.hlc = i.old_hlc AND i.origin = i.old_origin AND i.rank < 0
    """

  private func newestTimestamp(_ connection: Connection) throws -> HybridTimestamp {
    let newest = try connection.first("SELECT ifnull(max(hlc), 0) FROM incoming") { $0.integer(0) }
    return HybridTimestamp(rawValue: newest ?? 0)
  }

  /// Writes down how far the receiver has read, once this chunk is.
  private func saveCursors(_ connection: Connection, _ plan: PullPlan, _ place: Int) throws {
    guard let offer else { return }
    let isLast = place == plan.chunks.count - 1
    for (store, before) in zip(stores, cursors) {
      var state = try connection.peers.state(of: senderID, store: store)
      if isLast {
        state.cursor = max(plan.end, before)
      } else if before > 0, case .arrivals(_, let through) = plan.chunks[place] {
        state.cursor = max(through, before)
      } else {
        continue
      }
      state.readToken = offer.token
      try connection.peers.save(state, of: senderID, store: store, at: now)
    }
  }
}
