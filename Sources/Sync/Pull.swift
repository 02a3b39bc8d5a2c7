// SPDX-License-Identifier: Apache-2.0
//
// One direction of a merge, one transaction of the receiver per page. Each page has the rows as
// they are when it is read; rows that are written meanwhile come later, for their numbers are
// higher. The last page is read with the giver's mark: what was read until then is the giver's
// state at its mark. Each page raises the clock; cursor and vectors are written with the last one,
// because only then everything that they cover has been read. A pull that is interrupted reads its
// pages again, which changes nothing.

import KeepsakeDevice
import KeepsakeValues

struct Pull {
  /// How often the last page is read, if something else writes the giver all the time.
  private static let attempts = 1000

  let request: PullRequest

  /// - Parameters:
  ///   - result: gets what each transaction has committed, also if a later one fails.
  ///   - finish: runs within the last transaction.
  func run<Value>(
    _ result: inout PullResult, finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> Value {
    try request.receiver.core.storage.withLongLog { () throws(KeepsakeError) in
      let range = try request.giver.core.read { try GiverRange(request, $0) }
      result.isReadAgain = range.isReadAgain
      if let direct = try DirectPull(request, range),
        let value = try direct.run(&result, finish: finish)
      {
        return value
      }
      try request.receiver.core.access { try Incoming.prepare($0) }
      return try readPages(range, &result, finish)
    }
  }

  private func readPages<Value>(
    _ range: GiverRange, _ result: inout PullResult,
    _ finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> Value {
    var (position, attempts) = (Int64(0), 0)
    while true {
      let read = try request.giver.core.read {
        try range.page($0, after: position, request)
      }
      guard let page = read else { throw request.isDisturbed }
      // A file that is read as immutable may have changed.
      try request.giver.core.storage.still?.check()
      if page.isLast, request.marksGiver, !page.state.isMarked {
        attempts += 1
        guard attempts <= Self.attempts else { throw isNeverQuiet }
        try request.markGiver()
        continue
      }
      let (after, value, end) = try write(page, result, finish)
      result = after
      if let value {
        // The other side's vectors will cover what has lost: the log must survive a power failure.
        if result.mayHaveLosers { try request.receiver.core.storage.synchronize() }
        request.report(result, 1)
        return value
      }
      position = end
      request.report(result, Double(position) / Double(max(page.state.sequenceNumber, 1)))
      try request.hooks.step(.page)
    }
  }

  private var isNeverQuiet: KeepsakeError {
    KeepsakeError(
      .locked, path: request.giver.path, "it is written without a pause",
      cure: "try again when it is quiet")
  }

  /// One transaction.
  ///
  /// - Returns: also what `finish` returns, for the last page, and the number of the last row.
  private func write<Value>(
    _ page: GiverPage, _ before: PullResult,
    _ finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> (PullResult, Value?, end: Int64) {
    let receiver = request.receiver
    let isLarge = try receiver.core.storage.databaseSize() > GiverPage.maximumBytes
    return try receiver.core.write { connection in
      var (result, changes, page) = (before, [SettingChange](), page)
      var replica = try ReplicaState(connection)
      if !page.rows.isEmpty {
        try fill(connection, page)
        if isLarge { page.end(at: try Incoming.cut(connection, to: GiverPage.maximumBytes)) }
      }
      result.note(page, request)
      if !page.rows.isEmpty {
        changes = try Self.apply(
          to: receiver, connection, request.horizon, &replica, &result, doubt: request.doubt)
        try Incoming.clear(connection)
      }
      guard page.isLast else {
        try replica.save(connection)
        return ((result, nil, page.end), changes)
      }
      try request.noteVectors(page.state.vectors, connection, &replica, result)
      try replica.save(connection)
      return ((result, try finish(connection, result, page.state), page.end), changes)
    }
  }

  /// Puts a page into the receiver's temporary tables.
  private func fill(_ connection: Connection, _ page: GiverPage) throws {
    // A sync with a hub that `onProgress` has begun leaves its rows.
    try Incoming.clear(connection)
    try page.state.vectors.fill(connection)
    for store in request.stores {
      try Incoming.note(connection, store, sent: page.state.sent[store] ?? 0)
    }
    for row in page.rows { try Incoming.insert(connection, row) }
    try connection.measure(
      "FROM incoming AS e ORDER BY e.sequence_number", in: request.giver.path) { _, _ in }
    if request.checksRows {
      try RowCheck.checkReplaced(connection, path: request.receiver.path)
    }
  }

  /// Applies `incoming`, within a write.
  static func apply(
    to receiver: Device, _ connection: Connection, _ horizon: HybridTimestamp,
    _ replica: inout ReplicaState, _ result: inout PullResult, doubt: Incoming.Doubt? = nil
  ) throws -> [SettingChange] {
    try Incoming.decide(connection, upTo: horizon, replica, doubt: doubt)
    var changes: [SettingChange] = []
    // All of them, or none if the result keeps no more.
    let wantsAll = receiver.hasObservers
    if wantsAll || !result.hasMoreChanges {
      let reason: SettingChange.Reason = try connection.hasMet() ? .merge : .firstMerge
      try Incoming.forEachChange(connection, reason: reason) { change, bytes in
        if wantsAll { changes.append(change) }
        return result.keep(change, bytes) || wantsAll
      }
    }
    let log = connection.conflictLog
    let last = try log.last()
    let outcome = try Incoming.apply(
      connection, upTo: horizon, &replica, at: receiver.clock.milliseconds)
    result.note(outcome)
    if outcome.conflicts > 0 { try result.keepConflicts(of: log, after: last) }
    return changes
  }
}

extension PullRequest {
  var isDisturbed: KeepsakeError {
    KeepsakeError(
      .locked, path: giver.path,
      "it has taken a new replica ID, or dropped tombstones, while it was read",
      cure: "merge again")
  }

  /// Marks the giver, if it has changed.
  func markGiver() throws(KeepsakeError) {
    let before = try giver.core.read { try $0.marks.newest() }
    if try giver.mark(source) != before { try hooks.step(.marked) }
  }

  /// What the last transaction notes of the giver's vectors.
  func noteVectors(
    _ vectors: VersionVectors, _ connection: Connection, _ replica: inout ReplicaState,
    _ result: PullResult
  ) throws {
    // The horizon moves all the time: what is cut there counts only together with a new row.
    let vectors = result.hasNews ? vectors : vectors.upTo(horizon)
    try vectors.note(connection, ownID: replica.id, upTo: horizon)
    replica.last = max(replica.last, vectors.newest(upTo: horizon))
  }

  func report(_ result: PullResult, _ fraction: Double) {
    options.onProgress?(
      MergeProgress(
        from: direction.from, into: direction.into, received: result.received,
        fraction: fraction))
  }
}
