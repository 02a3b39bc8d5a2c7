// SPDX-License-Identifier: Apache-2.0
//
// A sync of one device with one account of a hub: reads what the hub has, then pushes what it
// lacks. If the hub refuses a page, because others have written one of its keys, the next attempt
// begins anew. `Tests/Model/hub_model.py` is the specification.
//
// The lease is held for each transaction, never over a request: in between, other processes may
// write, merge, rotate, repair or compact the file, or sync it with the hub. So each transaction
// reads what it needs. An attempt ends if the file has forgotten deletions meanwhile: they may be
// what it has to push.

import Foundation
package import KeepsakeDevice
import KeepsakeValues

package final class HubSync {
  /// How often one sync begins.
  private static let attempts = 12
  /// Milliseconds by which the clocks of hub and device may differ.
  private static let clockDifference = ClockRepair.tolerance - 2 * MergeOptions().clockSkew
  /// Rows that a hub may have at most: a sync remembers them.
  private let mostRows: Int

  let device: Device
  let channel: any HubChannel
  let options: MergeOptions
  let source: IdentitySource
  private let hooks: MergeHooks
  /// Rows of a page to read.
  private let rowsToRead: Int
  /// A page to push takes no more rows after so many rows or bytes. Fewer rows after a refusal, so
  /// that other keys get through.
  private(set) var pageSize: (rows: Int, bytes: Int)
  package internal(set) var report = MergeReport()
  /// What the attempts know of the hub.
  var known = KnownRows()
  /// What the hub has sent with a refusal.
  private var next: (request: HubPageRequest, answer: HubPageAnswer)?

  // Of one attempt.
  /// Numbers of rows to hold back: from the hub's future, too large for it, or read by no device.
  var held: Set<Int64> = []
  var cursor = HubCursor()
  /// The cursor as the file has stored it.
  private(set) var stored = HubCursor()
  var forgotten: [ByteText: Int64] = [:]
  /// The mark up to which the device has read the hub, with what it has pushed itself.
  private var base = HubCursor.beginning
  /// Why the attempt has ended, if no other device has come between.
  private var failure: KeepsakeError?

  /// - Parameter pageSize: rows of one request.
  package init(
    _ device: Device, _ channel: any HubChannel, options: MergeOptions = MergeOptions(),
    pageSize: Int = 1_000, mostRows: Int = 1_000_000, source: IdentitySource = .system,
    hooks: MergeHooks = MergeHooks()
  ) {
    (self.device, self.channel, self.options, rowsToRead) = (device, channel, options, pageSize)
    (self.mostRows, self.source, self.hooks) = (mostRows, source, hooks)
    self.pageSize = (pageSize, 512 << 10)
  }

  /// - Returns: false if other devices have come between each time. The next sync continues.
  package func run() throws(KeepsakeError) -> Bool {
    report.expect(from: 1, into: 0)
    report.expect(from: 0, into: 1)
    for attempt in 0..<Self.attempts {
      if attempt > 0 { channel.pause(after: attempt) }
      (held, failure) = ([], nil)
      if let pull = try pull(device.tables.read(prepare)), try push(pull) {
        report.hasConverged =
          pull.hasReadAll && cursor.held.isEmpty && cursor.read == cursor.newest
        return true
      }
    }
    if let failure { throw failure }
    return false
  }

  private func prepare(_ connection: Connection) throws -> HubPull {
    stored = try connection.hubs.cursor(of: channel.account)
    (cursor, forgotten) = (stored, try connection.forgotten())
    // If the file has dropped deletions, the hub may still have what was deleted.
    let newest = forgotten == known.forgotten ? 0 : forgotten.values.max() ?? 0
    let hasLost = try connection.hubs.firstLost(cursor) <= newest
    if hasLost, cursor != HubCursor() { report.events.append(.readInFull(device: 1, by: 0)) }
    return HubPull(from: hasLost || known.isLost ? HubCursor() : cursor, options: options)
  }

  private func request(_ cursor: HubCursor) throws(KeepsakeError) -> HubPageRequest {
    // The replica ID may have changed.
    var request = HubPageRequest(
      replica: try device.replica(), cursor: cursor.read, rows: rowsToRead)
    // Unsent rows may have come from the hub, before a push failed: the vectors are as old.
    let newestNumber = try device.tables.read { try $0.marks.newestNumber() }
    request.allVectors = newestNumber > cursor.sent.sequenceNumber || !cursor.held.isEmpty
    let newest = known.newest ?? stored.newest
    if newest != HubCursor.beginning { request.newest = newest }
    return request
  }

  // MARK: - Reading

  /// - Returns: nil if the attempt has ended.
  private func pull(_ start: HubPull) throws(KeepsakeError) -> HubPull? {
    var pull = start
    defer { report.add(pull.result, from: 1, into: 0) }
    while true {
      let answer = try answer(to: pull)
      try hooks.step(.answered)
      try refuseClock(answer.clock)
      let step = try transaction { try self.take(answer, &pull, $0, &$1) }
      // Vectors will cover what has lost: the log must not go in a power failure.
      if pull.result.mayHaveLosers { try device.synchronize() }
      switch step {
      case .ended(let boundary):
        if let boundary { try hooks.step(boundary) }
        return nil
      case .page:
        guard known.count <= mostRows else { throw malformed("never ends") }
        try hooks.step(.page)
      case .last: return pull
      }
    }
  }

  private func answer(to pull: HubPull) throws(KeepsakeError) -> HubPageAnswer {
    var request = try request(pull.cursor)
    request.after = pull.position
    defer { next = nil }
    if let next, next.request == request { return next.answer }
    let read = pull.cursor.read
    request.isConditional =
      known.newest == nil && read == pull.cursor.newest && read != HubCursor.beginning
    let answer = try channel.rows(request)
    guard
      answer.isLast || !answer.knowsCursor || answer.lastNumber ?? 0 > request.after ?? 0
    else { throw malformed("never ends") }
    return answer
  }

  func malformed(_ problem: String) -> KeepsakeError {
    KeepsakeError(
      .malformed, path: channel.name, "its answer \(problem)", cure: "ask who runs the hub")
  }

  /// The hub was restored, or has forgotten deletions: the next attempt reads all of it.
  func noteUnknown() {
    if !known.isLost, cursor != HubCursor() { report.events.append(.readInFull(device: 0, by: 1)) }
    known.forget()
    failure = malformed("never knows its own mark")
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
    base = pull.answer.newest
    while try send(&page, pull) {
      if let last = page.last {
        try finish(last.mark, last.held, pull)
        try hooks.step(.noted)
        return true
      }
      page = try readPage(after: page.rows.last?.sequenceNumber ?? page.position, pull)
    }
    return false
  }

  /// Sends a page, without rows that the hub refuses for their size.
  ///
  /// - Returns: false if the attempt has ended.
  private func send(
    _ page: inout HubPushPage, _ pull: HubPull
  ) throws(KeepsakeError) -> Bool {
    while !page.rows.isEmpty || known.owesMark {
      try hooks.step(.read)
      let upload = HubUpload(
        request: try request(cursor), base: base, rows: page.rows,
        last: page.last.map { ($0.mark, $0.vectors) })
      let result = try channel.push(upload)
      try hooks.step(.pushed)
      switch result {
      case .taken(let newest, let isNext):
        pageSize.rows = min(2 * pageSize.rows, rowsToRead)
        return try note(page, newest, isNext)
      case .changed(let answer):
        next = answer.map { (upload.request, $0) }
        pageSize.rows = max(1, pageSize.rows / 4)
        return false
      case .pageTooLarge(let error):
        failure = error
        pageSize.bytes = max(1, page.rows.reduce(0) { $0 + $1.body.count } >> 3)
        return false
      case .tooLarge(let row):
        channel.refused.insert(page.rows[row].sequenceNumber)
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

  /// - Returns: false if the file has forgotten deletions meanwhile.
  private func note(
    _ page: HubPushPage, _ newest: String, _ isNext: Bool
  ) throws(KeepsakeError) -> Bool {
    known.owesMark = page.last == nil
    guard try device.tables.read({ try $0.forgotten() }) == forgotten else { return false }
    known.add(page.rows.map(\.entry), newest: newest)
    if isNext { base = newest }
    if let place = report.transfers.firstIndex(where: { $0.into == 1 }) {
      report.transfers[place].changed += page.rows.count
    }
    return true
  }

  /// Notes that the hub has everything, and this file all of the hub, if nothing of it waits.
  private func finish(
    _ sent: Mark, _ held: [Int64], _ pull: HubPull
  ) throws(KeepsakeError) {
    var result = pull.result
    result.cutWaiting(options)
    report.waiting += result.waiting
    if pull.unreadable > 0 { report.events.append(.unreadable(count: pull.unreadable)) }
    try reportHeld(held, horizon: pull.horizon)
    var new = cursor
    if pull.hasReadAll { new.read = base }
    (new.newest, new.sent, new.held) = (known.newest ?? base, sent, held)
    if new != stored { try transaction { connection, _ in try self.note(new, in: connection) } }
  }

  // MARK: - Transactions

  /// One transaction, under the file's lease.
  private func transaction<Value>(
    _ body: (Connection, inout [SettingChange]) throws -> Value
  ) throws(KeepsakeError) -> Value {
    try device.leased(joins: true) { () throws(KeepsakeError) in
      try device.tables.write { connection in
        var changes: [SettingChange] = []
        return (try body(connection, &changes), changes)
      }
    }
  }

  func note(_ new: HubCursor, in connection: Connection) throws {
    let isNews = new != stored
    if isNews { try connection.hubs.save(new, of: channel.account) }
    (cursor, stored) = (new, new)
    try connection.hubs.noteSync(
      of: channel.account, isNews: isNews, at: device.clock.milliseconds)
  }
}
