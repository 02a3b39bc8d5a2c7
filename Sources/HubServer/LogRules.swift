// SPDX-License-Identifier: Apache-2.0
//
// The rules of a hub: a log of the newest row of each key. The hub compares numbers and marks, and
// understands nothing else. `Tests/Model/hub_model.py` is the specification.
//
// - A push is taken only if its base is the newest mark: its device has read everything.
// - Each row that is pushed gets the next sequence number, so a reader that continues from a
//   number misses no row.
// - Whoever asks names a mark. If the history lacks it, the hub was restored from a backup.

/// The rules of rows and marks.
package struct LogRules: Sendable {
  /// How long an account is reserved for one replica, and for its large body that is on its way.
  private static let reservation: Int64 = 5_000
  private static let longReservation: Int64 = 60_000

  let limits: HubLimits
  /// The system's clock.
  let now: Int64

  package init(_ limits: HubLimits, at now: Int64) { (self.limits, self.now) = (limits, now) }

  // MARK: - Reading

  package func read(_ request: HubRead, by sender: HubSender) -> HubWork<HubAnswer> {
    var query = sender.query(isWriting: false)
    query.marks = [request.cursor, request.lastNewest ?? .start]
    query.page = HubPage(
      after: request.after ?? request.cursor.number, rows: min(request.rows, limits.pageRows),
      bytes: min(request.bytes, limits.pageBytes), unless: request.unless)
    return HubWork(query) { [self] state in
      let account = try AccountRules.account(state)
      var answer = HubAnswer(newest: account.newest, clock: account.clock(at: now))
      answer.isNew = request.unless.map { !$0.isSame(account.newest) } ?? true
      // A first reading may have pages, between which rows are forgotten.
      let since = request.cursor.number > 0 ? request.cursor : request.lastNewest ?? .start
      answer.knowsCursor =
        !state.hasMarks.contains(false) && (since.number == 0 || since.number >= account.forgotten)
      answer.deviceMark = state.replica?.mark
      (answer.rows, answer.isLast) = (state.rows, !state.hasMore)
      answer.vectors = state.vectors
      return (answer, nil)
    }
  }

  // MARK: - Pushing

  /// Checks a push before its large body has come. A slow uplink takes longer for it than others
  /// take for their pushes, so a reservation is prolonged.
  ///
  /// - Returns: whether nobody has pushed since its base.
  package func check(_ base: HubMark, by sender: HubSender) -> HubWork<Bool> {
    HubWork(sender.query(isWriting: true)) { [self] state in
      let account = try freeAccount(state, sender)
      guard base.isSame(account.newest) else { return (false, refuse(account, sender)) }
      guard account.reservedBy == sender.replica else { return (true, nil) }
      return (true, reserve(account, sender, for: Self.longReservation))
    }
  }

  private func freeAccount(_ state: HubState, _ sender: HubSender) throws -> HubAccount {
    let account = try AccountRules.account(state)
    let left = account.reservedUntil - account.clock(at: now)
    // A clock that was set back does not prolong it.
    guard account.reservedBy == sender.replica || left <= 0 || left > Self.longReservation else {
      throw HubRefusal.reserved
    }
    return account
  }

  /// A device that others have come before again and again has the account for itself for a while.
  private func refuse(_ account: HubAccount, _ sender: HubSender) -> HubChange? {
    sender.wantsTurn ? reserve(account, sender, for: Self.reservation) : nil
  }

  private func reserve(
    _ account: HubAccount, _ sender: HubSender, for time: Int64
  ) -> HubChange {
    var (change, account) = (HubChange(), account)
    (account.reservedBy, account.reservedUntil) = (sender.replica, account.clock(at: now) + time)
    change.account = account
    return change
  }

  /// - Returns: the new mark, or nil if others have pushed since the push's base.
  package func push(
    _ push: HubPush, by sender: HubSender, bits: Int64
  ) -> HubWork<HubMark?> {
    var query = sender.query(isWriting: true)
    query.keys = push.rows.map(\.key)
    let isTrimming = bits % limits.pushesToTrim == 0
    var work = HubWork(query) { [self] state -> (HubMark?, HubChange?) in
      var account = try freeAccount(state, sender)
      guard push.base.isSame(account.newest) else { return (nil, refuse(account, sender)) }
      var change = HubChange()
      try count(push.rows, state.outlines, &account)
      change.rows = push.rows
      var number = account.newest.number
      for index in push.rows.indices {
        number += 1
        change.rows[index].number = number
      }
      account.newest = HubMark(number: number, bits: bits, time: account.clock(at: now))
      (account.reservedBy, account.reservedUntil) = ("", 0)
      change.mark = account.newest
      if let mark = push.mark {
        change.replica = HubReplica(id: sender.replica, number: number, mark: mark)
        change.vectors = push.vectors
      }
      if isTrimming { change.trim = trim(before: account.newest.time) }
      change.account = account
      return (account.newest, change)
    }
    guard !isTrimming else { return work }
    work.fastPush = HubFastPush(sender: sender, push: push, bits: bits, limits: limits, now: now)
    work.fastResult = { $0 }
    return work
  }

  private func trim(before time: Int64) -> HubTrim {
    HubTrim(
      marks: Int64(limits.marks), marksOfDay: Int64(limits.marksOfDay), day: time - 86_400_000,
      replicas: Int64(limits.replicas))
  }

  /// - Throws: if the account would grow beyond a limit.
  private func count(
    _ rows: [HubRow], _ outlines: [HubRowOutline], _ account: inout HubAccount
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
