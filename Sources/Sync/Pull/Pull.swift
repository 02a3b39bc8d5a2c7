// SPDX-License-Identifier: Apache-2.0
//
// One direction of a merge, one transaction of the receiver per page. Each page has the rows as
// they are when it is read; rows that are written meanwhile come later, for their numbers are
// higher. The giver is marked in the transaction that reads a page, so what was read after the last
// page is its state at its mark. Each page raises the clock; cursor and vectors are written with
// the last one, because only then everything that they cover has been read.

import KeepsakeDevice
import KeepsakeValues

struct Pull {
  /// Rows that are worth the preparation for many.
  static let many: Int64 = 1_000

  let giver: MergeSide
  let receiver: MergeSide
  /// Their places among the files that are merged.
  let (from, into): (Int, Int)
  let stores: [ByteText]
  let options: MergeOptions
  let source: IdentitySource
  let hooks: MergeHooks
  /// Later rows wait.
  let horizon: HybridTimestamp
  /// Stores that are read from the beginning, because the receiver has forgotten deletions that the
  /// giver has not read: the giver's value comes back, and both are the same again.
  let inFull: Set<ByteText>
  /// Sequence numbers of the giver that are not read: they came from the receiver.
  var skipped = NumberRanges()
  /// Whether the giver is marked. Of another one, what came after its newest mark is read again
  /// each time.
  var marksGiver = true
  /// The time after which the giver's own writes are doubted; see `MergeRun+OneWay`.
  var doubtedAfter: HybridTimestamp?

  /// - Parameters:
  ///   - result: gets what each transaction has committed, also if a later one fails.
  ///   - finish: runs within the last transaction.
  func run<Value>(
    _ result: inout PullResult, finish: (Connection, PullResult, GiverPage) throws -> Value
  ) throws(KeepsakeError) -> Value {
    let device = receiver.device
    let read = stores.map { receiver.cursor(of: giver.id, in: $0).sequenceNumber }.min() ?? 0
    let isLong = giver.sequenceNumber >= Self.many && read <= giver.sequenceNumber - Self.many
    return try device.tables.withRoom(isLong) { () throws(KeepsakeError) in
      var (pull, position) = (self, Int64(0))
      if let direct = try DirectPull(self) {
        position = try direct.run(&result)
      } else if isLong, options.stores == nil, receiver.peers[giver.id] == nil,
        let equal = try equalRows()
      {
        (pull.skipped, result.hasEqual) = (equal, true)
      }
      while true {
        let page = try pull.readPage(after: position)
        let (after, value) = try pull.write(page, result, finish)
        result = after
        // Vectors of others will cover what has lost: it must survive a power failure.
        if result.mayHaveLosers { try device.synchronize() }
        if let value {
          report(result, fraction: 1)
          return value
        }
        position = page.end
        report(result, fraction: Double(position) / Double(max(page.sequenceNumber, 1)))
        try hooks.step(.page)
      }
    }
  }

  private func readPage(after position: Int64) throws(KeepsakeError) -> GiverPage {
    let tables = giver.device.tables
    let marked: GiverPage? = try tables.read { connection in
      let (mark, isCurrent) = try connection.marks.state()
      return try marksGiver && !isCurrent
        ? nil : GiverPage(connection, for: self, mark: mark, after: position)
    }
    // A file that is read as immutable may have changed.
    try tables.checkUnchanged()
    if let marked { return marked }
    let page = try tables.write { connection in
      (try GiverPage(
        connection, for: self, mark: connection.marks.add(source), after: position), [])
    }
    try hooks.step(.marked)
    return page
  }

  /// One transaction.
  ///
  /// - Returns: also what `finish` returns, for the last page.
  private func write<Value>(
    _ page: GiverPage, _ before: PullResult,
    _ finish: (Connection, PullResult, GiverPage) throws -> Value
  ) throws(KeepsakeError) -> (PullResult, Value?) {
    try receiver.device.tables.write { connection in
      var (result, changes) = (before, [SettingChange]())
      var replica = try ReplicaState(connection)
      result.note(page, of: self)
      if !page.rows.isEmpty {
        var known = Incoming.Giver()
        (known.vectors, known.cursors) = (page.vectors.times, page.giverCursors)
        known.doubted = doubtedAfter.map { (writer: giver.id, after: $0) }
        changes = try Self.apply(
          page.rows, of: known, to: receiver.device, connection, horizon, &replica, &result)
      }
      if page.isLast {
        var vectors = page.vectors
        if let doubtedAfter { vectors.lower(giver.id, to: doubtedAfter) }
        // Rows that the giver has just taken may have won over its own.
        let hasNews = result.hasNews || !skipped.ranges.isEmpty
        try vectors.note(connection, &replica, upTo: horizon, hasNews: hasNews)
      }
      try replica.save(connection)
      let value = try page.isLast ? finish(connection, result, page) : nil
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
      let change = SettingChange(entry, from: old, reason)
      if wantsAll { changes.append(change) }
      _ = result.keep(change, size: old.cell.byteCount + entry.content.cell.byteCount)
    }
    result.note(outcome)
    if outcome.conflicts > 0 { try result.keepConflicts(of: log, after: last) }
    return changes
  }

  func report(_ result: PullResult, fraction: Double) {
    options.onProgress?(
      MergeProgress(from: from, into: into, received: result.received, fraction: fraction))
  }
}

extension SettingChange {
  /// - Parameter old: what the entry replaces.
  init(_ entry: Entry, from old: TaggedCell, _ reason: Reason) {
    self.init(
      store: entry.address.store.string, key: entry.address.key.string, from: old,
      to: entry.content, writer: entry.replicaID, timestamp: entry.timestamp, reason: reason)
  }
}
