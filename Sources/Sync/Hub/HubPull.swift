// SPDX-License-Identifier: Apache-2.0
//
// One direction: rows of a hub into a file, one transaction per page. The last one also notes
// vectors and cursor, and reads the first page to push.

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// How far an attempt has read a hub.
struct HubPull {
  /// What the file knows of the hub, unless it has to be read from the beginning.
  let cursor: HubCursor
  /// The number of the last row that was read; nil before the first page.
  fileprivate(set) var position: Int64?
  fileprivate(set) var answer = HubPageAnswer(newest: HubCursor.beginning, clock: 0)
  fileprivate(set) var horizon = HybridTimestamp.zero
  fileprivate(set) var result: PullResult
  fileprivate(set) var firstPage: HubPushPage?
  /// Rows that this version cannot read. They are read again each time.
  fileprivate(set) var unreadable = 0
  /// Whether nothing of the hub waits.
  var hasReadAll: Bool { result.waitingCount == 0 && unreadable == 0 }

  init(from cursor: HubCursor, options: MergeOptions) {
    self.cursor = cursor
    let limit = options.changeLimit
    result = PullResult(changes: limit, losses: limit, keepsAll: limit == .max)
  }
}

/// The result of applying an answer.
enum HubPullStep {
  /// The attempt has ended: the file has forgotten deletions or has a new replica ID, or the hub
  /// does not know the cursor.
  case ended(MergeHooks.Boundary? = nil)
  case page
  case last
}

extension HubSync {
  /// Takes a page, within a transaction.
  func take(
    _ answer: HubPageAnswer, _ pull: inout HubPull, _ connection: Connection,
    _ changes: inout [SettingChange]
  ) throws -> HubPullStep {
    guard try connection.forgotten() == forgotten else { return .ended() }
    if let mark = answer.deviceMark, try connection.marks.contains(mark) == false {
      if report.events.contains(.newReplicaID(device: 0, reason: .copy)) {
        throw malformed("names a mark again that no device has made")
      }
      let same = try answer.rows.compactMap { row in
        try connection.numberedEntry(at: row.address).flatMap {
          $0.entry == row ? String($0.number) : nil
        }
      }
      try connection.rotate(
        to: source.replicaID(), since: cursor.sent,
        unless: "e.sequence_number IN (\(same.joined(separator: ", ")))",
        at: device.clock.milliseconds)
      report.events.append(.newReplicaID(device: 0, reason: .copy))
      return .ended(.rotated)
    }
    guard answer.knowsCursor else {
      noteUnknown()
      return .ended()
    }
    pull.answer = answer
    pull.horizon = .horizon(now: answer.clock, skew: options.clockSkew)
    changes = try apply(answer, &pull, connection)
    known.add(answer.rows, newest: answer.newest, unreadable: answer.unreadableKeys)
    pull.unreadable += answer.unreadable
    guard answer.isLast else {
      pull.position = answer.lastNumber ?? pull.position
      return .page
    }
    try finish(answer, &pull, connection)
    return .last
  }

  private func apply(
    _ answer: HubPageAnswer, _ pull: inout HubPull, _ connection: Connection
  ) throws -> [SettingChange] {
    guard !answer.rows.isEmpty else { return [] }
    for row in answer.rows where row.timestamp > pull.horizon {
      pull.result.received += 1
      pull.result.note(waiting: MergeReport.Waiting(row, into: 0, options), options)
    }
    var giver = Incoming.Giver()
    giver.vectors = answer.vectors.times
    let sent = pull.cursor.sent.sequenceNumber
    giver.cursors = Dictionary(
      answer.rows.map { ($0.address.store, sent) }, uniquingKeysWith: { $1 })
    giver.held = Set(pull.cursor.held)
    var replica = try ReplicaState(connection)
    let changes = try Pull.apply(
      answer.rows, of: giver, to: device, connection, pull.horizon, &replica, &pull.result)
    try replica.save(connection)
    return changes
  }

  /// With the last page: only now everything that the vectors cover has been read.
  private func finish(
    _ answer: HubPageAnswer, _ pull: inout HubPull, _ connection: Connection
  ) throws {
    // They may cover rows that this version cannot read.
    if pull.unreadable == 0, !answer.vectors.times.isEmpty {
      var replica = try ReplicaState(connection)
      try answer.vectors.note(
        connection, &replica, upTo: pull.horizon, hasNews: pull.result.hasNews)
      try replica.save(connection)
    }
    cursor = pull.cursor
    cursor.newest = answer.newest
    if pull.hasReadAll { cursor.read = answer.newest }
    pull.firstPage = try readPage(after: 0, pull, connection)
    try note(cursor, in: connection)
    known.isLost = false
    if pull.cursor == HubCursor() { known.forgotten = forgotten }
  }
}
