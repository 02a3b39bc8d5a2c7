// SPDX-License-Identifier: Apache-2.0
//
// A clock that had run ahead. What was written meanwhile is timestamped with a time that has not
// come: other devices hold it back, and everything written later goes on from there, since a clock
// never runs backwards. So the device takes those timestamps back.
//
// - It gives up its identity: what others have noted of the old one (`seen`) reaches into the
//   future, and would pass for knowledge of what is written from now on.
// - It writes down, in `void`, up to where the timestamps of the old identity stand. Merges pass
//   that on.
// - Its late entries become writes of the new identity, made now, in their old order.
// - What it had accepted of others that is from the future waits in `held`, as it does everywhere
//   else. So that no value goes away meanwhile, this device writes it as well, with timestamps that
//   lose to everything: when it was made only its author knows.
//
// Whether the clock was wrong then, or is wrong now, is a guess. A machine without a battery wakes
// up in the past, and taking back true timestamps would lose them against older writes of others.
// So it is repaired unasked only when it is ahead by more than a day, the present is possible, and
// no other device says that the later time was right: by an entry of its own, or by what it had
// seen.

package import KeepsakeDevice
package import KeepsakeValues

/// What a repair of the clock did.
package struct ClockRepair: Sendable, Equatable {
  /// How far the clock was ahead, in milliseconds.
  package let ahead: Int64
  /// Entries that got a new timestamp.
  package let restamped: Int

  /// Milliseconds that a clock may be ahead before it is repaired unasked: less heals by waiting.
  static let tolerance: Int64 = 86_400_000
  /// 2020-01-01, in milliseconds since 1970. A clock before it was never set.
  static let earliestPresent: Int64 = 1_577_836_800_000
}

extension Device {
  /// Takes back the timestamps of this device that are from the future, if its clock had run ahead.
  ///
  /// The values stay. O(entries) when there is something to repair, else O(1).
  ///
  /// - Parameters:
  ///   - isForced: a person has made sure that the clock is right now.
  ///   - id: the new identity.
  /// - Returns: nil when nothing had to be done.
  @discardableResult
  package func repairClock(
    isForced: Bool = false, as id: ReplicaID
  ) throws(KeepsakeError) -> ClockRepair? {
    let now = clock.milliseconds
    let skew = isForced ? Held.defaultSkew : ClockRepair.tolerance
    let limit = Held.horizon(now: now, skew: skew)
    guard !isReadOnly, isForced || now >= ClockRepair.earliestPresent else { return nil }
    guard try core.access({ try ReplicaState($0).last > limit }) else { return nil }
    return try leased(joins: true) { () throws(KeepsakeError) in
      try core.write { connection in
        // Another process may have been faster.
        var replica = try ReplicaState(connection)
        let ahead = replica.last.milliseconds - now
        let isDoubtful = try !isForced && connection.hasNewsOfOthers(beyond: limit)
        guard replica.last > limit, !isDoubtful else { return (nil, []) }
        let restamped = try connection.repairClock(&replica, at: now, as: id)
        return (ClockRepair(ahead: ahead, restamped: restamped), [])
      }
    }
  }
}

extension Connection {
  fileprivate func hasNewsOfOthers(beyond limit: HybridTimestamp) throws -> Bool {
    try first(
      """
      SELECT 1 FROM entry WHERE hlc > ?1 AND origin NOT IN \(Identity.own)
      UNION ALL SELECT 1 FROM seen WHERE hlc > ?1 AND origin NOT IN \(Identity.own) LIMIT 1
      """, [.integer(limit.rawValue)]
    ) { _ in true } ?? false
  }

  fileprivate func repairClock(
    _ replica: inout ReplicaState, at now: Int64, as id: ReplicaID
  ) throws -> Int {
    let limit = HybridTimestamp(milliseconds: now)
    let horizon = Held.horizon(now: now, skew: Held.defaultSkew)
    let former = replica.id
    try rotate(&replica, to: id)
    try Identity.cutAll(self, former, after: limit)
    try revokeOwn(after: limit)
    try Held.holdAccepted(self, beyond: horizon, at: now)
    try Graves.drop(self, beyond: horizon)
    var timestamp = HybridTimestamp.zero
    let adopted = try restamp(
      &replica, after: &timestamp, where: "hlc > ?1 AND origin NOT IN \(Identity.own)",
      [.integer(horizon.rawValue)])
    let late = "hlc > ?1 AND origin IN \(Identity.own)"
    timestamp =
      try first("SELECT max(ifnull(max(hlc), 0), ?1) FROM entry WHERE NOT (\(late))", [limit.cell])
    { HybridTimestamp(rawValue: $0.integer(0)) } ?? limit
    let rewritten = try restamp(&replica, after: &timestamp, where: late, [limit.cell])
    replica.last = timestamp
    try replica.save(self)
    try replica.setBack(self)
    return adopted + rewritten
  }

  /// Makes entries writes of this device, in the order of their timestamps.
  ///
  /// - Parameter timestamp: the one before the first that is given; then the last.
  private func restamp(
    _ replica: inout ReplicaState, after timestamp: inout HybridTimestamp, where condition: String,
    _ arguments: [Cell]
  ) throws -> Int {
    let count = try entries.rewrite(
      where: condition, arguments, timestamps: .following(timestamp), origin: replica.id, &replica)
    timestamp = HybridTimestamp(rawValue: timestamp.rawValue + Int64(count))
    return count
  }
}

extension HybridTimestamp {
  fileprivate var cell: Cell { .integer(rawValue) }
}
