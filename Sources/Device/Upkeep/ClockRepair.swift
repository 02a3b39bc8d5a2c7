// SPDX-License-Identifier: Apache-2.0
//
// A clock that had run ahead. What was written meanwhile has timestamps from the future: other
// files do not read it yet, and everything written later goes on from there, since a clock never
// runs backwards. So the file writes all late rows, of any writer, anew: in their order, as of now,
// under a new replica ID. What is claimed of the future, vectors and own marks, is cut to the new
// clock.
//
// Whether the clock was wrong then, or is wrong now, is a guess. A machine without a battery wakes
// up in the past, and rewriting true timestamps would lose them against older writes of others. So
// the clock is repaired unasked only if it is ahead by more than a day, the present is possible,
// and no other device confirms the later time: by an entry of its own, or by a vector.

import KeepsakeStorage
package import KeepsakeValues

/// What a repair of the clock did.
package struct ClockRepair: Sendable, Equatable {
  /// How far the clock was ahead, in milliseconds.
  package let ahead: Int64
  /// Entries that got a new timestamp.
  package let restamped: Int

  /// Milliseconds that a clock may be ahead before it is repaired unasked: less heals by waiting.
  package static let tolerance: Int64 = 86_400_000
  /// The same if a person asks for it: what a merge does not read yet.
  static let forcedTolerance: Int64 = 5 * 60_000
  /// 2020-01-01, in milliseconds since 1970. A clock before it was never set.
  static let earliestPresent: Int64 = 1_577_836_800_000
}

extension Device {
  /// Writes entries from the future anew, if the clock had run ahead.
  ///
  /// The values stay. O(entries) if there is something to repair, else O(1).
  ///
  /// - Parameters:
  ///   - isForced: a person has made sure that the clock is right now.
  ///   - id: the new replica ID.
  /// - Returns: nil if nothing had to be done.
  @discardableResult
  package func repairClock(
    isForced: Bool = false, as id: ReplicaID
  ) throws(KeepsakeError) -> ClockRepair? {
    let now = clock.milliseconds
    let tolerance = isForced ? ClockRepair.forcedTolerance : ClockRepair.tolerance
    let due = HybridTimestamp.horizon(now: now, skew: tolerance)
    guard !isReadOnly, isForced || now >= ClockRepair.earliestPresent else { return nil }
    guard try tables.access({ try ReplicaState.clock($0) > due }) else { return nil }
    return try leased(joins: true) { () throws(KeepsakeError) in
      try tables.write { connection in
        // Another process may have been faster.
        guard try ReplicaState(connection).last > due,
          try isForced || !connection.hasNewsOfOthers(after: due)
        else { return (nil, []) }
        return (try connection.repairClock(at: now, after: due, as: id), [])
      }
    }
  }
}

extension Connection {
  private static let own = "(SELECT id FROM replica UNION ALL SELECT id FROM former_replica)"

  fileprivate func hasNewsOfOthers(after due: HybridTimestamp) throws -> Bool {
    try first(
      """
      SELECT 1 FROM entry WHERE timestamp > ?1 AND replica_id NOT IN \(Self.own)
      UNION ALL SELECT 1 FROM seen WHERE timestamp > ?1 AND replica_id NOT IN \(Self.own) LIMIT 1
      """, [.integer(due.rawValue)]
    ) { _ in true } ?? false
  }

  /// - Parameter due: later timestamps are from the future.
  package func repairClock(
    at now: Int64, after due: HybridTimestamp, as id: ReplicaID
  ) throws -> ClockRepair {
    var replica = try ReplicaState(self)
    let ahead = replica.last.milliseconds - now
    try takeNewID(id, reason: .clock, at: now, &replica)
    let present =
      try first(
        """
        SELECT max(t) FROM (
          SELECT max(timestamp) AS t FROM entry WHERE timestamp <= ?1
          UNION ALL SELECT max(timestamp) FROM mark WHERE timestamp <= ?1
          UNION ALL SELECT max(timestamp) FROM seen WHERE timestamp <= ?1)
        """, [.integer(due.rawValue)]
      ) { HybridTimestamp(rawValue: $0.integer(0)) } ?? .zero
    let clock = max(HybridTimestamp(milliseconds: now), present)
    let columns = [
      "seen": "timestamp", "mark": "timestamp", "peer": "own_timestamp", "hub": "sent_timestamp",
    ]
    for (table, column) in columns {
      try run(
        "UPDATE \(table) SET \(column) = ?1 WHERE \(column) > ?1", [.integer(clock.rawValue)])
    }
    let count = try entries.rewrite(
      where: "timestamp > ?4", [.integer(due.rawValue)],
      by: "timestamp, replica_id, type, value, typeof(value)", as: id, after: clock, &replica)
    replica.last = HybridTimestamp(rawValue: clock.rawValue + Int64(count))
    try replica.save(self)
    try replica.setBack(self)
    return ClockRepair(ahead: ahead, restamped: count)
  }
}
