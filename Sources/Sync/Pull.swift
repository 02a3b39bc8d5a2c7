// SPDX-License-Identifier: Apache-2.0
//
// One direction of a merge, one transaction of the receiver per page. Each page has the rows as
// they are when it is read; rows that are written meanwhile come later, for their numbers are
// higher. The giver is marked in the transaction that reads a page, so what was read after the last
// page is its state at its mark. Each page raises the clock; cursor and vectors are written with
// the last one, because only then everything that they cover has been read. A pull that is
// interrupted reads its pages again, which changes nothing.

import KeepsakeDevice
package import KeepsakeValues

struct Pull {
  let giver: Device
  let receiver: Device
  /// Their places among the devices that are merged.
  let (from, into): (Int, Int)
  let stores: [ByteText]
  /// The files as the merge knows them.
  let (giverSide, receiverSide): (MergeSide, MergeSide)
  let options: MergeOptions
  let source: IdentitySource
  let hooks: MergeHooks
  /// Later rows wait.
  let horizon: HybridTimestamp
  /// Stores that are read from the beginning.
  var inFull: Set<ByteText> = []
  /// Sequence numbers of the giver that are not read: they came from the receiver.
  var skipped = NumberRanges()
  /// Whether the giver is marked. Of another one, what came after its newest mark is read again
  /// each time.
  var marksGiver = true
  /// Writes of the giver that the receiver may not have read, though its vectors cover them.
  var doubt: Incoming.Doubt?

  init(_ run: MergeRun, _ from: Int, into: Int, _ stores: [ByteText]) {
    (giver, receiver) = (run.devices[from], run.devices[into])
    (self.from, self.into, self.stores) = (from, into, stores)
    (giverSide, receiverSide) = (run.sides[from], run.sides[into])
    (options, source, hooks) = (run.options, run.source, run.hooks)
    horizon = .horizon(now: receiver.clock.milliseconds, skew: options.clockSkew)
  }

  /// - Parameters:
  ///   - result: gets what each transaction has committed, also if a later one fails.
  ///   - finish: runs within the last transaction.
  func run<Value>(
    _ result: inout PullResult, finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> Value {
    try receiver.core.storage.withLongLog { () throws(KeepsakeError) in
      let direct = try DirectPull(self)
      var (range, position) = (direct?.range, try direct?.run(&result) ?? 0)
      while true {
        let page = try readPage(after: position, &range)
        result.isReadAgain = range?.isReadAgain ?? false
        let (after, value) = try write(page, result, finish)
        result = after
        if let value {
          // The other side's vectors will cover what has lost: the log must survive a power
          // failure.
          if result.mayHaveLosers { try receiver.core.storage.synchronize() }
          report(result, 1)
          return value
        }
        position = page.end
        report(result, Double(position) / Double(max(page.state.sequenceNumber, 1)))
        try hooks.step(.page)
      }
    }
  }

  /// - Parameter range: what the pull reads; nil before the first page.
  private func readPage(
    after position: Int64, _ range: inout GiverRange?
  ) throws(KeepsakeError) -> GiverPage {
    func read(_ connection: Connection, _ mark: Mark) throws -> GiverPage {
      let state = try GiverState(connection, self, mark)
      let start = try range ?? GiverRange(self, connection, state)
      range = start
      return try start.page(connection, state, after: position, self)
    }
    let marked: GiverPage? = try giver.core.read { connection in
      let (mark, isCurrent) = try connection.marks.state()
      return try marksGiver && !isCurrent ? nil : read(connection, mark)
    }
    // A file that is read as immutable may have changed.
    try giver.core.storage.still?.check()
    if let marked { return marked }
    let page = try giver.core.write { connection in
      (try read(connection, connection.marks.add(source)), [])
    }
    try hooks.step(.marked)
    return page
  }

  /// One transaction.
  ///
  /// - Returns: also what `finish` returns, for the last page.
  private func write<Value>(
    _ page: GiverPage, _ before: PullResult,
    _ finish: (Connection, PullResult, GiverState) throws -> Value
  ) throws(KeepsakeError) -> (PullResult, Value?) {
    try receiver.core.write { connection in
      var (result, changes) = (before, [SettingChange]())
      var replica = try ReplicaState(connection)
      result.note(page, self)
      if !page.rows.isEmpty {
        var giver = Incoming.Giver()
        (giver.vectors, giver.sent) = (page.state.vectors.times, page.state.sent)
        giver.doubt = doubt
        changes = try Self.apply(
          page.rows, of: giver, to: receiver, connection, horizon, &replica, &result)
      }
      if page.isLast {
        var vectors = page.state.vectors
        if let doubt { vectors.lower(doubt.replicaID, to: doubt.timestamp) }
        try vectors.note(connection, &replica, upTo: horizon, hasNews: result.hasNews)
      }
      try replica.save(connection)
      let value = try page.isLast ? finish(connection, result, page.state) : nil
      return ((result, value), changes)
    }
  }

  /// Applies a page, within a write.
  static func apply(
    _ entries: [Entry], of giver: Incoming.Giver, to receiver: Device, _ connection: Connection,
    _ horizon: HybridTimestamp, _ replica: inout ReplicaState, _ result: inout PullResult
  ) throws -> [SettingChange] {
    // All changes, or none if the result keeps no more.
    let wantsAll = receiver.hasObservers
    var changes: [SettingChange] = []
    let reason: SettingChange.Reason = try connection.hasMet() ? .merge : .firstMerge
    let log = connection.conflictLog
    let last = try log.last()
    let outcome = try Incoming.apply(
      entries, of: giver, connection, upTo: horizon, &replica, at: receiver.clock.milliseconds
    ) { entry, old in
      guard wantsAll || !result.hasMoreChanges else { return }
      let change = SettingChange(
        store: entry.address.store.string, key: entry.address.key.string, from: old,
        to: entry.content, writer: entry.replicaID, timestamp: entry.timestamp, reason: reason)
      if wantsAll { changes.append(change) }
      _ = result.keep(change, old.cell.byteCount + entry.content.cell.byteCount)
    }
    result.note(outcome)
    if outcome.conflicts > 0 { try result.keepConflicts(of: log, after: last) }
    return changes
  }

  func report(_ result: PullResult, _ fraction: Double) {
    options.onProgress?(
      MergeProgress(from: from, into: into, received: result.received, fraction: fraction))
  }

  var isDisturbed: KeepsakeError {
    KeepsakeError(
      .locked, path: giver.path,
      "it has taken a new replica ID, or dropped tombstones, while it was read",
      cure: "merge again")
  }
}

extension HybridTimestamp {
  /// The last timestamp that is not from the future.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: milliseconds that a timestamp may be ahead.
  package static func horizon(now: Int64, skew: Int64) -> HybridTimestamp {
    let (sum, overflow) = now.addingReportingOverflow(skew)
    return HybridTimestamp(milliseconds: overflow ? .max : sum)
  }
}
