// SPDX-License-Identifier: Apache-2.0
//
// A sync of one device with one account of a hub: reads what the hub has, then pushes what it
// lacks. If another device has pushed in between, the hub refuses, and the next attempt begins anew
// with smaller pages. `Tests/Model/hub_model.py` is the specification.
//
// The lease is held for each transaction, never over a request: in between, other processes may
// write, merge, rotate, repair or compact the file, or sync it with the hub. So each transaction
// reads what it needs. An attempt ends if the file has forgotten deletions meanwhile: they may be
// what it has to push.

import Foundation
package import KeepsakeDevice
import KeepsakeValues

package final class HubSync {
  /// How often in a row one sync begins without pushing anything.
  private static let attempts = 4
  /// Milliseconds by which the clocks of hub and device may differ.
  private static let clockDifference = ClockRepair.tolerance - 2 * MergeOptions().clockSkew
  /// How often an attempt may begin to read from the beginning.
  private static let resets = 10
  /// Rows that a hub may have at most: a sync remembers them.
  private let mostRows: Int

  let device: Device
  let channel: any HubChannel
  let options: MergeOptions
  let source: IdentitySource
  private let hooks: MergeHooks
  private let firstPageSize: Int
  package internal(set) var report = MergeReport()
  /// What the attempts know of the hub.
  var known = KnownRows()

  /// Whether another device has come between.
  private var wasRefused = false
  private(set) var pageSize: HubPageSize

  // Of one attempt.
  private var hasPushed = false
  /// Numbers of rows to hold back: from the hub's future, too large for it, or read by no device.
  var held: Set<Int64> = []
  var cursor = HubCursor()
  /// What the file has of it.
  private(set) var stored = HubCursor()
  /// Whether the file has dropped deletions that the hub may lack.
  private var hasLostDeletions = false
  var forgotten: [ByteText: Int64] = [:]
  /// Why the attempt has ended, if no other device has come between.
  private var failure: KeepsakeError?
  /// What the hub has sent with a refusal.
  private var next: (request: HubPageRequest, answer: HubPageAnswer)?

  /// - Parameter pageSize: rows of one request.
  package init(
    _ device: Device, _ channel: any HubChannel, options: MergeOptions = MergeOptions(),
    pageSize: Int = 1_000, mostRows: Int = 1_000_000, source: IdentitySource = .system,
    hooks: MergeHooks = MergeHooks()
  ) {
    (self.device, self.channel, self.options, firstPageSize) = (device, channel, options, pageSize)
    (self.mostRows, self.source, self.hooks) = (mostRows, source, hooks)
    self.pageSize = HubPageSize(rows: pageSize)
  }

  /// - Returns: false if other devices have pushed in between each time. The next sync continues.
  package func run() throws(KeepsakeError) -> Bool {
    report.expect(from: 1, into: 0)
    report.expect(from: 0, into: 1)
    while pageSize.attempt < Self.attempts {
      // What came with a refusal is used at once: after a pause others may have pushed.
      if next == nil, pageSize.attempt > 0 || known.newest != nil {
        channel.pause(.milliseconds(100 << pageSize.attempt))
      }
      pageSize.begin()
      (hasPushed, failure, held) = (false, nil, [])
      try device.core.read(prepare)
      if let pull = try pull(), try push(pull) {
        report.hasConverged = pull.hasReadAll && cursor.held.isEmpty
        return true
      }
      if !hasPushed { pageSize.attempt += 1 }
    }
    if let failure { throw failure }
    return false
  }

  private func prepare(_ connection: Connection) throws {
    stored = try connection.hubs.cursor(of: channel.account)
    (cursor, forgotten) = (stored, try connection.forgotten())
    hasLostDeletions = try connection.hubs.firstLost(cursor) <= forgotten.values.max() ?? 0
  }

  // MARK: - Reading

  /// - Returns: nil if the attempt has ended.
  private func pull() throws(KeepsakeError) -> HubPull? {
    var pull = HubPull(cursor, options)
    defer { report.add(pull.result, from: 1, into: 0) }
    if hasLostDeletions {
      // The hub may still have what was deleted.
      reset(&pull, .readInFull(device: 1, by: 0))
    }
    // Nor can the hub tell whether it has dropped what is here.
    if cursor.read == HubCursor.beginning { pull.reset() }
    var resets = 0
    while true {
      let answer = try answer(to: pull)
      try hooks.step(.answered)
      try refuseClock(answer.clock)
      switch try transaction({ try self.take(answer, &pull, $0, &$1) }) {
      case .disturbed: return nil
      case .rotated:
        report.events.append(.newReplicaID(device: 0, reason: .copy))
        try hooks.step(.rotated)
        return nil
      case .unknown:
        resets += 1
        guard resets <= Self.resets else { throw malformed("never knows its own mark") }
        reset(&pull, .readInFull(device: 0, by: 1))
      case .page:
        guard known.count <= mostRows else { throw malformed("never ends") }
        try hooks.step(.page)
      case .last:
        // The vectors cover what has lost: the log must not go in a power failure.
        if pull.result.mayHaveLosers { try device.core.storage.synchronize() }
        return pull
      }
    }
  }

  private func answer(to pull: HubPull) throws(KeepsakeError) -> HubPageAnswer {
    var request = HubPageRequest(
      replica: try device.replica(), cursor: pull.cursor.read, rows: firstPageSize)
    (request.after, request.newest) = (pull.position, known.newest)
    defer { next = nil }
    if let next, next.request == request { return next.answer }
    request.isConditional =
      known.newest == nil && cursor == pull.cursor && cursor.read != HubCursor.beginning
    let answer = try channel.rows(request)
    let position = request.after ?? 0
    guard answer.isLast || !answer.knowsCursor || answer.lastNumber ?? 0 > position else {
      throw malformed("never ends")
    }
    return answer
  }

  private func malformed(_ problem: String) -> KeepsakeError {
    KeepsakeError(
      .malformed, path: channel.name, "its answer \(problem)", cure: "ask who runs the hub")
  }

  /// Begins to read the hub from the beginning.
  private func reset(_ pull: inout HubPull, _ event: MergeReport.Event) {
    if pull.cursor != HubCursor() { report.events.append(event) }
    pull.reset()
    if case .readInFull(device: 0, by: _) = event { known = KnownRows() }
  }

  private func refuseClock(_ clock: Int64) throws(KeepsakeError) {
    let difference = clock - device.clock.milliseconds
    guard abs(difference) > Self.clockDifference else { return }
    let hours = abs(difference) / 3_600_000
    throw KeepsakeError(
      .unavailable, path: channel.name,
      "its clock is \(hours) hours \(difference > 0 ? "ahead of" : "behind") this device's",
      cure: "set the clock that is wrong; nothing was read or sent")
  }

  // MARK: - Pushing

  /// - Returns: whether the hub has everything.
  private func push(_ pull: HubPull) throws(KeepsakeError) -> Bool {
    guard var page = pull.firstPage else { return false }
    var base = pull.answer.newest
    while true {
      guard try send(&page, &base, pull) else { return false }
      if let last = page.last {
        try finish(last, pull, base)
        try hooks.step(.noted)
        return true
      }
      page = try readPage(after: page.rows.last?.sequenceNumber ?? page.position, pull)
    }
  }

  /// Sends a page, without rows that the hub refuses for their size.
  ///
  /// - Returns: false if the attempt has ended.
  private func send(
    _ page: inout HubPushPage, _ base: inout String, _ pull: HubPull
  ) throws(KeepsakeError) -> Bool {
    while !page.rows.isEmpty {
      try hooks.step(.read)
      let upload = try upload(page, base)
      let result = try channel.push(upload)
      try hooks.step(.pushed)
      switch result {
      case .taken(let newest):
        (base, hasPushed) = (newest, true)
        pageSize.grow()
        guard try !isDisturbed() else { return false }
        note(page, newest)
        return true
      case .changed(let answer):
        wasRefused = true
        next = answer.map { (upload.next, $0) }
        return false
      case .pageTooLarge(let error):
        failure = error
        pageSize.limit()
        return false
      case .tooLarge(let row):
        let number = page.rows[row].sequenceNumber
        // The hub has the one that is pushed again.
        if !known.forgetUnmarked(number) { channel.refused.insert(number) }
        page = try readPage(after: page.position, pull)
      }
    }
    return true
  }

  private func readPage(
    after position: Int64, _ pull: HubPull
  ) throws(KeepsakeError) -> HubPushPage {
    try transaction { connection, _ in try self.readPage(after: position, pull, connection) }
  }

  private func upload(
    _ page: HubPushPage, _ base: String
  ) throws(KeepsakeError) -> HubUpload {
    // It may have changed since the page was read.
    let replica = try device.replica()
    var next = HubPageRequest(
      replica: replica, cursor: cursor.read, rows: firstPageSize)
    next.newest = known.newest
    return HubUpload(
      replica: replica, base: base, rows: page.rows,
      last: page.last.map { ($0.mark, $0.vectors) }, wantsTurn: wasRefused, next: next)
  }

  private func note(_ page: HubPushPage, _ newest: String) {
    known.add(page, newest)
    guard let place = report.transfers.firstIndex(where: { $0.into == 1 }) else { return }
    report.transfers[place].changed += page.rows.count
  }

  private func isDisturbed() throws(KeepsakeError) -> Bool {
    try device.core.read { try $0.forgotten() } != forgotten
  }

  /// Notes that the hub has everything, unless the transaction of the last page has.
  private func finish(
    _ last: HubPushPage.Last, _ pull: HubPull, _ base: String
  ) throws(KeepsakeError) {
    var result = pull.result
    result.cutWaiting(options)
    report.waiting += result.waiting
    if pull.unreadable > 0 { report.events.append(.unreadable(count: pull.unreadable)) }
    try reportHeld(last.held, pull.horizon)
    guard !last.isNoted else { return }
    try transaction { connection, _ in
      try self.note(last.cursor(read: pull.hasReadAll ? base : nil, self.cursor), connection)
    }
  }

  // MARK: - Transactions

  /// One transaction, under the file's lease.
  private func transaction<Value>(
    _ body: (Connection, inout [SettingChange]) throws -> Value
  ) throws(KeepsakeError) -> Value {
    try device.leased(joins: true) { () throws(KeepsakeError) in
      try device.core.write { connection in
        var changes: [SettingChange] = []
        return (try body(connection, &changes), changes)
      }
    }
  }

  func note(_ new: HubCursor, _ connection: Connection) throws {
    let isNews = new != stored
    if isNews { try connection.hubs.save(new, of: channel.account) }
    (cursor, stored) = (new, new)
    try connection.hubs.noteSync(
      of: channel.account, isNews: isNews, at: device.clock.milliseconds)
  }
}
