// SPDX-License-Identifier: Apache-2.0
//
// One direction of a meeting: what the sender accepted since the receiver last read goes through
// the receiver's door, in transactions of at most `chunkSize` entries.
//
// Invariants
// - The sender is attached read-only; only the receiver is written.
// - A cursor is written in the transaction that writes the rows it covers, so it never runs ahead.
// - Nothing is read that the sender accepted after it wrote the token, and the token is checked in
//   the transaction that reads. So a cursor never covers another state of the sender's file than
//   one that knows the token.

import KeepsakeDevice
import KeepsakeValues

struct Pull {
  let sender: Device
  let receiver: Device
  let senderID: ReplicaID
  let stores: [ByteText]
  /// Where to read on, in the order of `stores`.
  let cursors: [Int64]
  /// Nil for a one-way pull, which leaves no trace of who was met.
  let offer: Offer?
  /// Arrival numbers of the sender that came from the receiver in this meeting.
  let echo: EchoRange
  let now: Int64
  let options: MergeOptions
  /// Why the receiver's values change.
  let reason: Change.Reason

  /// Under which token, and how far, the sender lets itself be read.
  struct Offer {
    let token: MeetingToken
    let lseq: Int64
  }

  struct Result {
    var received = 0
    var changed = 0
    var held = 0
    var conflicts = 0
    /// Tombstones that the sender has still to read, because of what it sent.
    var answered = 0
    var losses: [Conflict] = []
    var changes: [Change] = []
    /// Whether there were more changes than `changes` keeps.
    var hasMoreChanges = false
    /// The receiver's arrival numbers that this pull gave.
    var written = EchoRange()
  }

  /// - Parameter changeLimit: how many changes the result keeps.
  func run(changeLimit: Int) throws(KeepsakeError) -> Result {
    try receiver.core.withSender(sender.core) { () throws(KeepsakeError) in
      try receiver.core.access { connection in
        try connection.want(stores, from: cursors)
        try Knowledge.prepare(connection)
      }
      var result = Result()
      var next = cursors.min()
      while let from = next {
        next = try chunk(after: from, changeLimit: changeLimit, into: &result)
      }
      return result
    }
  }

  /// - Returns: where the next chunk starts; nil when this was the last.
  private func chunk(
    after from: Int64, changeLimit: Int, into result: inout Result
  ) throws(KeepsakeError) -> Int64? {
    let before = result
    let isFirst = from == cursors.min()
    let wantsAll = receiver.hasObservers
    return try receiver.core.write { connection in
      try checkSender(connection)
      if isFirst { try Knowledge.load(connection) }
      let end = try chunkEnd(connection, after: from)
      var step = before
      let limit = wantsAll ? Int.max : changeLimit
      let changes = try admit(
        connection, from: from, to: end.lseq, limit, keeping: changeLimit, into: &step)
      if let offer { try saveCursors(connection, end.lseq, offer.token) }
      // What the sender accepted after its offer is in its version vector, and was not read.
      if end.isLast, end.isAll { try Knowledge.advance(connection) }
      result = step
      // Whoever starts to listen now has missed the beginning: a change set is whole or not there.
      return (end.isLast ? nil : end.lseq, wantsAll ? changes : [])
    }
  }

  /// Throws unless the attached file is still the one that was met.
  private func checkSender(_ connection: Connection) throws {
    let id = try connection.first("SELECT id FROM sender.replica") { $0.integer(0) }
    var isSame = id == senderID.rawValue
    if isSame, let token = offer?.token {
      let me = try ReplicaState(connection).id
      isSame = try stores.allSatisfy { store in
        try connection.first(
          "SELECT token FROM sender.peer WHERE peer = ?1 AND store = ?2",
          [.integer(me.rawValue), .text(store.string)]
        ) { $0.integer(0) } == token.rawValue
      }
    }
    guard isSame else { throw Merge.interrupted(sender.path) }
  }

  private func chunkEnd(
    _ connection: Connection, after from: Int64
  ) throws -> (lseq: Int64, isLast: Bool, isAll: Bool) {
    let full = try connection.first(
      "SELECT lseq FROM sender.entry INDEXED BY entry_lseq WHERE lseq > ?1"
        + " ORDER BY lseq LIMIT 1 OFFSET ?2",
      [.integer(from), .integer(Int64(options.chunkSize) - 1)]
    ) { $0.integer(0) }
    let now = try connection.first(
      "SELECT max(lseq, ifnull((SELECT max(lseq) FROM sender.entry), 0)) FROM sender.replica"
    ) { $0.integer(0) }
    let last = offer?.lseq ?? now ?? from
    guard let full, full < last else { return (max(from, last), true, last == now) }
    return (full, false, false)
  }

  private func admit(
    _ connection: Connection, from: Int64, to: Int64, _ changeLimit: Int, keeping kept: Int,
    into result: inout Result
  ) throws -> [Change] {
    var replica = try ReplicaState(connection)
    let received = try Door.fill(
      connection,
      from: """
        SELECT e.store, e.key, e.tag, e.value, e.hlc, e.origin
        FROM sender.entry AS e INDEXED BY entry_lseq JOIN wanted AS w ON w.store = e.store
        WHERE e.lseq > ?1 AND e.lseq <= ?2 AND e.lseq > w.cursor
          AND NOT (e.lseq > ?3 AND e.lseq <= ?4)
          AND e.key <> '' AND (e.tag = 0) = (e.value IS NULL)
        ORDER BY e.lseq
        """,
      [.integer(from), .integer(to), .integer(echo.lower), .integer(echo.upper)])
    guard received > 0 else { return [] }
    let horizon = Held.horizon(now: now, skew: options.maximumClockSkew)
    result.received += received
    try connection.cutVoidIncoming()
    result.held += try Held.hold(connection, beyond: horizon, at: now)
    let known = try connection.lastConflict()
    let answered = try Collection.answer(connection, as: replica.id, at: now)
    result.answered += answered
    result.conflicts += try answered + Knowledge.journal(connection, at: now)
    result.losses += try connection.conflicts(
      after: known, limit: kept - result.losses.count)
    let room = kept - result.changes.count
    let changes = try Door.changes(
      connection, reason: reason, limit: changeLimit == .max || room == .max ? .max : room + 1)
    result.changes += changes.prefix(room)
    result.hasMoreChanges = result.hasMoreChanges || changes.count > room
    let newest = try connection.first("SELECT ifnull(max(hlc), 0) FROM incoming") { $0.integer(0) }
    result.answered += try Collection.remind(connection, after: replica.lseq)
    result.changed += try Door.admit(connection, after: replica.lseq)
    result.written.append(replica.lseq, replica.lseq + Int64(received))
    replica.last = max(replica.last, HybridTimestamp(rawValue: newest ?? 0))
    replica.lseq += Int64(received)
    try replica.save(connection)
    return changes
  }

  private func saveCursors(
    _ connection: Connection, _ cursor: Int64, _ token: MeetingToken
  ) throws {
    for (store, before) in zip(stores, cursors) {
      var state = try connection.peerState(senderID, store: store)
      state.cursor = max(cursor, before)
      state.readToken = token
      try connection.save(state, of: senderID, store: store, at: now)
    }
  }
}

/// Arrival numbers, `lower` excluded, `upper` included.
struct EchoRange: Equatable {
  var lower: Int64 = 0
  var upper: Int64 = 0

  var isEmpty: Bool { lower == upper }

  /// Grows by a following range. A gap means that somebody else wrote in between; then only the
  /// newer range is kept, and reading the older part again changes nothing.
  mutating func append(_ from: Int64, _ to: Int64) {
    if from != upper || lower == upper { lower = from }
    upper = to
  }
}
