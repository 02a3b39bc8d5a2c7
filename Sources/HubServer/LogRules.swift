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
  /// A hub drops replica IDs that were silent for a year.
  package static let silence: Int64 = 365 * 86_400_000
  /// How long an account is reserved for one replica, and for its large body that is on its way.
  static let reservation: Int64 = 5_000
  static let longReservation: Int64 = 60_000
  /// Pushes refused in a row after which it is.
  static let refusals = 2
  /// The time of a replica's last request is that exact.
  private static let grain: Int64 = 86_400_000

  let limits: HubLimits
  /// The system's clock.
  let now: Int64

  package init(_ limits: HubLimits, at now: Int64) { (self.limits, self.now) = (limits, now) }

  // MARK: - Reading

  /// Also returns whether the hub has to note the request: by `note`, for which no device waits.
  /// If the note is lost, the device may once have to read everything.
  package func read(
    _ request: HubRead, by sender: HubSender
  ) -> HubWork<(answer: HubAnswer, isNoted: Bool)> {
    var query = sender.query(isWriting: false)
    query.marks = [request.cursor, request.lastNewest ?? .start]
    query.page = HubPage(
      after: request.after ?? request.cursor.number, rows: min(request.rows, limits.pageRows),
      bytes: min(request.bytes, limits.pageBytes), unless: request.unless)
    return HubWork(query) { [self] state in
      let account = try AccountRules.account(state)
      var answer = HubAnswer(newest: account.newest, clock: account.clock(at: now))
      answer.isNew = request.unless.map { !$0.isSame(account.newest) } ?? true
      answer.cursor = cursorState(request, account, state.hasMarks)
      answer.deviceMark = state.replica?.mark
      (answer.rows, answer.isLast) = (state.rows, !state.hasMore)
      answer.vectors = state.vectors
      return ((answer, isNoteDue(request.cursor, account, state)), nil)
    }
  }

  private func cursorState(
    _ request: HubRead, _ account: HubAccount, _ hasMarks: [Bool]
  ) -> HubAnswer.CursorState {
    let marks = [request.cursor, request.lastNewest ?? .start]
    var state = HubAnswer.CursorState.known
    for (mark, hasMark) in zip(marks, hasMarks) where mark.number > 0 && !hasMark {
      if mark.number > account.trimmed { return .unknown }
      state = .old
    }
    // A first reading may have pages, between which rows are forgotten.
    let since = request.cursor.number > 0 ? request.cursor : request.lastNewest ?? .start
    return since.number > 0 && since.number < account.forgotten ? .old : state
  }

  private func isNoteDue(_ cursor: HubMark, _ account: HubAccount, _ state: HubState) -> Bool {
    if let device = state.device, AccountRules.isUseDue(device, now) { return true }
    guard let replica = state.replica else { return true }
    let isNoted = cursor.isSame(replica.cursor) || cursor.isSame(replica.newest)
    return !isNoted || !replica.newest.isSame(account.newest)
      || abs(account.clock(at: now) - replica.asked) >= Self.grain
  }

  /// Remembers a request for rows: its marks are kept.
  package func note(
    cursor: HubMark, newest: HubMark, by sender: HubSender
  ) -> HubWork<Void> {
    var work = HubWork(sender.query(isWriting: true)) { [self] state -> (Void, HubChange?) in
      let account = try AccountRules.account(state)
      var change = HubChange()
      var replica = state.replica ?? HubReplica(id: sender.replica)
      (replica.cursor, replica.newest) = (cursor, newest)
      replica.asked = account.clock(at: now)
      change.replica = replica
      if var device = state.device, AccountRules.isUseDue(device, now) {
        device.lastUse = now
        change.device = device
      }
      if state.replica == nil { change.trim = trim(account, marks: nil) }
      return ((), change)
    }
    work.isUrgent = false
    return work
  }

  /// Rows as they are, without a mark.
  package func export(
    _ account: Int64, token: [UInt8], after number: Int64
  ) -> HubWork<(rows: [HubRow], hasMore: Bool)> {
    var query = HubQuery(account, isWriting: false)
    query.token = token
    query.page = HubPage(after: number, rows: limits.pageRows, bytes: limits.pageBytes)
    return HubWork(query) { state in
      _ = try AccountRules.account(state)
      return ((state.rows, state.hasMore), nil)
    }
  }

  // MARK: - Pushing

  /// Checks a push before its large body has come. A slow uplink takes longer for it than others
  /// take for their pushes, so a reservation is prolonged.
  ///
  /// - Returns: why it is refused, or nil.
  package func check(_ base: HubMark, by sender: HubSender) -> HubWork<HubPushResult?> {
    HubWork(sender.query(isWriting: true)) { [self] state in
      var account = try AccountRules.account(state)
      guard isFree(account, sender), base.isSame(account.newest) else {
        return refuse(base, sender, account, state)
      }
      guard account.reservedBy == sender.replica else { return (nil, nil) }
      var change = HubChange()
      account.reservedUntil = account.clock(at: now) + Self.longReservation
      change.account = account
      return (nil, change)
    }
  }

  private func isFree(_ account: HubAccount, _ sender: HubSender) -> Bool {
    let left = account.reservedUntil - account.clock(at: now)
    // A clock that was set back does not prolong it.
    return account.reservedBy == sender.replica || left <= 0 || left > Self.longReservation
  }

  package func push(
    _ push: HubPush, by sender: HubSender, bits: Int64
  ) -> HubWork<HubPushResult> {
    var query = sender.query(isWriting: true)
    query.keys = push.rows.map(\.key)
    var work = HubWork(query) { [self] state -> (HubPushResult, HubChange?) in
      var account = try AccountRules.account(state)
      let clock = account.clock(at: now)
      guard isFree(account, sender), push.base.isSame(account.newest) else {
        return refuse(push.base, sender, account, state)
      }
      var change = HubChange()
      try count(push.rows, state.outlines, &account)
      change.rows = push.rows
      for index in push.rows.indices {
        account.number += 1
        change.rows[index].number = account.number
      }
      account.newest = HubMark(number: account.number, bits: bits, time: clock)
      change.mark = account.newest
      if let mark = push.mark {
        finish(mark, sender, &account, state.replica, &change)
        change.vectors = push.vectors
      }
      account.untrimmed += 1
      if account.untrimmed >= limits.trimmedMarks {
        account.untrimmed = 0
        change.trim = trim(account, marks: limits.marks)
      }
      change.account = account
      return (.taken(newest: account.newest, clock: clock), change)
    }
    work.fastPush = HubFastPush(sender: sender, push: push, bits: bits, limits: limits, now: now)
    work.fastResult = { .taken(newest: $0, clock: $0.time) }
    return work
  }

  /// A device that was refused twice has the account for itself for a while.
  private func refuse(
    _ base: HubMark, _ sender: HubSender, _ account: HubAccount, _ state: HubState
  ) -> (HubPushResult, HubChange?) {
    let clock = account.clock(at: now)
    var (change, account) = (HubChange(), account)
    var replica = state.replica ?? HubReplica(id: sender.replica)
    replica.refused += 1
    if isFree(account, sender), replica.refused >= Self.refusals {
      (account.reservedBy, account.reservedUntil) = (sender.replica, clock + Self.reservation)
      change.account = account
    }
    change.replica = replica
    if state.replica == nil { change.trim = trim(account, marks: nil) }
    let result =
      base.isSame(account.newest)
      ? HubPushResult.reserved(milliseconds: account.reservedUntil - clock) : .changed
    return (result, change)
  }

  private func finish(
    _ mark: [UInt8], _ sender: HubSender, _ account: inout HubAccount, _ known: HubReplica?,
    _ change: inout HubChange
  ) {
    var replica = known ?? HubReplica(id: sender.replica)
    (replica.mark, replica.refused) = (mark, 0)
    if replica.asked > 0 { (replica.newest, replica.asked) = (account.newest, account.newest.time) }
    change.replica = replica
    if account.reservedBy == sender.replica {
      (account.reservedBy, account.reservedUntil) = ("", 0)
    }
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

  private func trim(_ account: HubAccount, marks: Int?) -> HubTrim {
    HubTrim(
      marks: marks, replicas: limits.replicas,
      silentSince: account.clock(at: now) - Self.silence)
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
