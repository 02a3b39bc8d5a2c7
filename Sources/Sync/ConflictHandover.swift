// SPDX-License-Identifier: Apache-2.0
//
// An open conflict goes from one device's log to another's, so that a resolver has it, exactly
// once. The two files commit one after the other, and the process may end in between:
// 1. the receiving log gets the conflict, as on its way;
// 2. the giving log marks it as handed over to the receiver, unless it is not open any more;
// 3. the receiving log opens it, or drops it if another receiver or a resolver came before 2.
// When the receiver takes conflicts from that device the next time, it goes on from where this
// ended.
//
// Between 1 and 3 nobody else may take the same conflict, or the one drops it and the other finds
// nothing to open. So both files are leased meanwhile, for one conflict at a time: merges of other
// processes need not wait for all of them.

package import KeepsakeDevice
import KeepsakeValues

/// What the column `resolved` of a conflict says.
enum Resolution {
  static let open: Int64 = 0
  static let resolved: Int64 = 1
  static let onItsWay: Int64 = 2
  static let handedOver: Int64 = 3

  /// Whether this log has nothing to decide any more. One on its way may still be open where it
  /// comes from.
  static func isResolved(_ state: Int64) -> Bool { state == resolved || state == handedOver }
}

extension Device {
  /// Takes over the conflicts of a store that are open in the log of another device.
  ///
  /// - Throws: `KeepsakeError`; what was not taken over stays open there.
  package func takeConflicts(store: String, from other: Device) throws(KeepsakeError) {
    guard !isReadOnly, !other.isReadOnly else { return }
    let waiting = try core.access { try $0.handovers(of: store, Resolution.onItsWay) }
    for handover in waiting {
      try alone(with: other) { () throws(KeepsakeError) in try settle(handover, with: other) }
    }
    let open = try other.core.access { try $0.handovers(of: store, Resolution.open) }
    for handover in open {
      try alone(with: other) { () throws(KeepsakeError) in try take(handover, from: other) }
    }
    if !open.isEmpty { try core.write { (try ConflictLog.trim($0), []) } }
  }

  /// Runs `body` while nobody else takes a conflict to or from either device.
  private func alone(
    with other: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try Lease.hold([self, other], waiting: .seconds(60), joins: true, body)
  }

  private func take(_ handover: Handover, from other: Device) throws(KeepsakeError) {
    let receiver = try core.write { (try $0.expect(handover), []) }
    try other.core.write { (try $0.handOver(handover, to: receiver), []) }
    try settle(handover, with: other)
  }

  /// Decides what is on its way by what the giving log says of it, if that log knows.
  private func settle(_ handover: Handover, with other: Device) throws(KeepsakeError) {
    guard let given = try other.core.access({ try $0.progress(of: handover) }),
      given.state == Resolution.handedOver || given.state == Resolution.resolved
    else { return }
    try core.write { connection in
      guard let mine = try connection.progress(of: handover), mine.state == Resolution.onItsWay
      else { return ((), []) }
      if given.state == Resolution.handedOver, given.receiver == mine.receiver {
        try connection.run(
          "UPDATE conflict SET resolved = 0 WHERE \(Handover.same) AND resolved = 2",
          handover.identity)
      } else {
        try connection.run(
          "DELETE FROM conflict WHERE \(Handover.same) AND resolved = 2", handover.identity)
      }
      return ((), [])
    }
  }
}

/// A conflict's row without its number, which each log gives.
private struct Handover {
  static let columns =
    "store, key, loser_hlc, loser_origin, winner_hlc, loser_tag, loser_value, winner_tag,"
    + " winner_origin, at"
  static let same =
    "store = ?1 AND key = ?2 AND loser_hlc = ?3 AND loser_origin = ?4 AND winner_hlc = ?5"

  let cells: [Cell]

  /// What tells it from others.
  var identity: [Cell] { Array(cells.prefix(5)) }
}

extension Connection {
  fileprivate func handovers(of store: String, _ state: Int64) throws -> [Handover] {
    try all(
      "SELECT \(Handover.columns) FROM conflict WHERE store = ?1 AND resolved = ?2 ORDER BY id",
      [.text(store), .integer(state)]
    ) { row in Handover(cells: (0..<10).map { row.cell($0) }) }
  }

  fileprivate func progress(
    of handover: Handover
  ) throws -> (state: Int64, receiver: Int64)? {
    try first(
      "SELECT resolved, receiver FROM conflict WHERE \(Handover.same) ORDER BY resolved LIMIT 1",
      handover.identity
    ) { row in (row.integer(0), row.integer(1)) }
  }

  /// Notes the conflict as on its way, unless this log has it already as one of its own.
  ///
  /// - Returns: the receiver, for the giving log.
  fileprivate func expect(_ handover: Handover) throws -> Int64 {
    let receiver = try ReplicaState(self).id.rawValue
    switch try progress(of: handover) {
    case (Resolution.onItsWay, let begun)?: return begun
    case (Resolution.handedOver, _)?:
      try run(
        "UPDATE conflict SET resolved = 2, receiver = ?6 WHERE \(Handover.same) AND resolved = 3",
        handover.identity + [.integer(receiver)])
    case nil:
      try run(
        """
        INSERT INTO conflict (\(Handover.columns), resolved, receiver)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 2, ?11)
        """, handover.cells + [.integer(receiver)])
    default: break  // A clone of the giver, or the like.
    }
    return receiver
  }

  fileprivate func handOver(_ handover: Handover, to receiver: Int64) throws {
    try run(
      "UPDATE conflict SET resolved = 3, receiver = ?6 WHERE \(Handover.same) AND resolved = 0",
      handover.identity + [.integer(receiver)])
  }
}
