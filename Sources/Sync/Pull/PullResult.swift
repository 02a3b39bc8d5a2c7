// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// What a pull has done.
struct PullResult {
  var received = 0
  private(set) var changed = 0
  private(set) var conflicts = 0
  /// Older conflicts that the log dropped.
  private(set) var droppedConflicts = 0
  /// Whether a write may have lost: now, or in an earlier pull that was interrupted, whose rows are
  /// there already.
  var mayHaveLosers: Bool { conflicts > 0 || received > changed || hasEqual }
  /// Whether rows were skipped because the receiver had them.
  var hasEqual = false
  /// Whether a row was applied or has lost unseen.
  var hasNews = false
  /// Whether stores were read from the beginning though they were read before.
  var isReadAgain = false
  /// Rows that no device writes, and that were left out.
  var malformed = 0
  /// The sequence numbers that the receiver has given to applied rows.
  private(set) var taken = NumberRanges()
  /// How many rows are from the future.
  var waitingCount = 0
  /// The first of them.
  var waiting: [MergeReport.Waiting] = []
  /// The last mark of the giver before the first row that waits, or was left out.
  var markBeforeUnread: Mark?
  private(set) var losses: [Conflict] = []
  private(set) var changes: [SettingChange] = []
  /// Whether there were more changes than `changes` keeps.
  private(set) var hasMoreChanges = false
  /// How many changes and losses it keeps.
  private let (changeLimit, lossLimit): (Int, Int)
  /// Bytes of values that it may still keep.
  private var bytes: Int

  /// - Parameters:
  ///   - changes: how many changes it keeps.
  ///   - losses: how many losses it keeps.
  ///   - keepsAll: whether values of any size are kept, and not only 16 MiB.
  init(changes: Int, losses: Int, keepsAll: Bool) {
    (changeLimit, lossLimit) = (max(changes, 0), max(losses, 0))
    bytes = keepsAll ? .max : 1 << 24
  }

  /// - Returns: false if there is no room for this change and those that follow.
  mutating func keep(_ change: SettingChange, size: Int) -> Bool {
    hasMoreChanges = hasMoreChanges || changes.count >= changeLimit || bytes <= 0
    bytes -= size
    if !hasMoreChanges { changes.append(change) }
    return !hasMoreChanges
  }

  mutating func keepConflicts(of log: ConflictLog, after id: Int64) throws {
    losses += try log.conflicts(after: id, limit: lossLimit - losses.count, within: &bytes)
  }

  mutating func note(_ outcome: Incoming.Outcome) {
    for range in outcome.numbers.ranges { taken.append(range) }
    changed += outcome.applied
    received += outcome.received
    conflicts += outcome.conflicts
    droppedConflicts += outcome.droppedConflicts
    hasNews = hasNews || outcome.applied > 0 || outcome.hasLosers
  }

  /// Notes rows that were inserted.
  mutating func note(inserted count: Int, as numbers: ClosedRange<Int64>) {
    received += count
    changed += count
    hasNews = hasNews || count > 0
    taken.append(numbers)
  }

  mutating func note(waiting row: MergeReport.Waiting, _ options: MergeOptions) {
    waitingCount += 1
    waiting.append(row)
    if waiting.count >= 2 * min(max(options.changeLimit, 512), .max / 2) { cutWaiting(options) }
  }

  /// Keeps those that are due first.
  mutating func cutWaiting(_ options: MergeOptions) {
    waiting.sort { $0.until < $1.until }
    waiting = Array(waiting.prefix(max(options.changeLimit, 0)))
  }
}

extension MergeReport {
  /// Adds what a pull did to the transfer of its direction.
  mutating func add(_ result: PullResult, from: Int, into: Int) {
    guard let place = transfers.firstIndex(where: { $0.from == from && $0.into == into }) else {
      return
    }
    transfers[place].received += result.received
    transfers[place].changed += result.changed
    transfers[place].waiting += result.waitingCount
    transfers[place].conflicts += result.conflicts
    changes += result.changes.map { DeviceChange(into: into, change: $0) }
    conflicts += result.losses.map { DeviceConflict(into: into, conflict: $0) }
    if result.malformed > 0 { events.append(.unreadable(count: result.malformed)) }
    if result.droppedConflicts > 0 {
      events.append(.conflictsDropped(device: into, count: result.droppedConflicts))
    }
    if result.hasMoreChanges { omittedChanges += result.changed - result.changes.count }
  }
}
