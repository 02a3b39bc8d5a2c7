// SPDX-License-Identifier: Apache-2.0
//
// The rules of a hub: a log of the newest row of each key. The hub compares numbers and marks, and
// understands nothing else. `Tests/Model/hub_model.py` is the specification.
//
// - A push is accepted only if its device has read the rows that it replaces: none of its keys has
//   a number above its base.
// - Each row that is pushed gets the next sequence number, so a reader that continues from a
//   number misses no row.
// - Each request names a mark. If the history lacks it, the hub was restored from a backup.

/// The rules of rows and marks.
package struct LogRules: Sendable {
  package let limits: HubLimits
  /// The system's clock.
  package let now: Int64

  package init(_ limits: HubLimits, at now: Int64) { (self.limits, self.now) = (limits, now) }

  // MARK: - Reading

  package func read(_ request: HubRead, by sender: HubSender) -> HubWork<HubAnswer> {
    var query = sender.query(isWriting: false)
    query.marks = [request.cursor, request.lastNewest ?? .start]
    query.page = HubPage(
      after: request.after ?? request.cursor.number, rows: min(request.rows, limits.pageRows),
      bytes: min(request.bytes, limits.pageBytes), unless: request.unless)
    if !request.allVectors { query.page?.cursor = request.cursor.number }
    return HubWork(query) { [self] state in
      let account = try AccountRules.account(state)
      var answer = HubAnswer(newest: account.newest, clock: account.clock(at: now))
      answer.isNew = request.unless.map { !$0.isSame(account.newest) } ?? true
      // During a first reading rows may be forgotten between two pages.
      let since = request.cursor.number > 0 ? request.cursor : request.lastNewest ?? .start
      answer.knowsCursor =
        !state.hasMarks.contains(false) && (since.number == 0 || since.number >= account.forgotten)
      answer.deviceMark = state.replica?.mark
      (answer.rows, answer.isLast) = (state.rows, !state.hasMore)
      answer.vectors = state.vectors.map(\.body)
      return (answer, nil)
    }
  }

  // MARK: - Pushing

  /// - Returns: nil if the push is refused: since its base another device has written one of its
  ///   keys or forgotten any, or a copy of the device has pushed.
  package func push(
    _ push: HubPush, by sender: HubSender, bits: Int64
  ) -> HubWork<HubPushed?> {
    var query = sender.query(isWriting: true)
    query.keys = push.rows.map(\.key)
    query.marks = [push.base, push.newest]
    var work = HubWork(query) { [self] state -> (HubPushed?, HubChange?) in
      var account = try AccountRules.account(state)
      guard push.hasRead(account, state) else { return (nil, nil) }
      let isNext = push.base.isSame(account.newest)
      var change = HubChange()
      try count(push.rows, replacing: state.outlines, in: &account)
      change.rows = push.rows
      for index in push.rows.indices {
        change.rows[index].number = account.newest.number + 1 + Int64(index)
      }
      // A push without rows has a number, too.
      let number = account.newest.number + Int64(max(push.rows.count, 1))
      account.newest = HubMark(number: number, bits: bits, time: account.clock(at: now))
      change.mark = account.newest
      if let mark = push.mark, let vectors = push.vectors {
        change.replica = HubReplica(id: sender.replica, number: number, mark: mark)
        let room = Int64(limits.vectorBytes - vectors.count)
        change.vectors = HubChange.NewVectors(
          HubVectors(number: number, body: vectors), read: push.base.number, bytes: room)
      }
      change.trim = limits.trim(bits, at: account.newest.time)
      change.account = account
      return (HubPushed(newest: account.newest, isNext: isNext), change)
    }
    work.fastPush = HubFastPush(
      sender: sender, push: push, bits: bits, limits: limits, now: now)
    work.fastResult = { $0 }
    return work
  }

  /// - Throws: if the account would grow beyond a limit.
  private func count(
    _ rows: [HubRow], replacing outlines: [HubRowOutline], in account: inout HubAccount
  ) throws {
    let moreRows = Int64(rows.count - outlines.count)
    let moreBytes =
      rows.reduce(0) { $0 + $1.size } - outlines.reduce(0) { $0 + $1.size }
    account.rows += moreRows
    account.bytes += moreBytes
    guard account.rows <= limits.rows || moreRows <= 0 else {
      throw HubRefusal.full(limit: "rows", limits.rows)
    }
    guard account.bytes <= limits.bytes || moreBytes <= 0 else {
      throw HubRefusal.full(limit: "bytes", limits.bytes)
    }
  }

  // MARK: - Forgetting

  /// Drops deleted rows. Only a device that has read everything may ask for it.
  ///
  /// - Returns: whether it was done.
  package func forget(
    _ keys: [[UInt8]], base: HubMark, by sender: HubSender
  ) -> HubWork<Bool> {
    var query = sender.query(isWriting: true)
    query.keys = keys
    return HubWork(query) { state in
      var account = try AccountRules.account(state)
      guard base.isSame(account.newest) else { return (false, nil) }
      let dropped = state.outlines.filter(\.isDeleted)
      guard !dropped.isEmpty else { return (true, nil) }
      var change = HubChange()
      change.forgottenKeys = dropped.map(\.key)
      account.rows -= Int64(dropped.count)
      account.bytes -= dropped.reduce(0) { $0 + $1.size }
      account.forgotten = max(account.forgotten, dropped.map(\.number).max() ?? 0)
      change.account = account
      return (true, change)
    }
  }
}

extension HubPush {
  /// Whether the device has read the rows that the push replaces, and the last push with its
  /// replica ID. If the history lacks a mark of the push, the hub was set back.
  fileprivate func hasRead(_ account: HubAccount, _ state: HubState) -> Bool {
    let numbers = [account.forgotten, state.replica?.number ?? 0] + state.outlines.map(\.number)
    return !state.hasMarks.contains(false) && numbers.allSatisfy { $0 <= base.number }
  }
}

extension HubSender {
  fileprivate func query(isWriting: Bool) -> HubQuery {
    var query = HubQuery(account, isWriting: isWriting)
    (query.token, query.replica) = (tokenHash, replica)
    return query
  }
}
