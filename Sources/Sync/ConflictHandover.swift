// SPDX-License-Identifier: Apache-2.0
//
// An open conflict goes from one device's log to another's, so that a resolver has it, exactly
// once. The two files commit one after the other, and the process may end in between:
// 1. the receiving log gets the conflict, as on its way;
// 2. the giving log marks it as handed over, unless it has been resolved there meanwhile;
// 3. the receiving log opens it, or drops it if 2 came too late.
// Whoever takes conflicts from that device the next time goes on from where this ended.
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
      try alone(with: other) { () throws(KeepsakeError) in try resume(handover, from: other) }
    }
    for handover in try other.core.access({ try $0.handovers(of: store, Resolution.open) }) {
      try alone(with: other) { () throws(KeepsakeError) in try take(handover, from: other) }
    }
  }

  /// Runs `body` while nobody else takes a conflict to or from either device.
  private func alone(
    with other: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try Lease.hold([self, other], waiting: .seconds(60), joins: true, body)
  }

  private func resume(_ handover: Handover, from other: Device) throws(KeepsakeError) {
    let state = try other.core.access { try $0.resolution(of: handover) }
    guard let state, state != Resolution.open else { return }
    try settle(handover, isMine: state != Resolution.resolved)
  }

  private func take(_ handover: Handover, from other: Device) throws(KeepsakeError) {
    guard try core.write({ (try $0.expect(handover), []) }) else {
      // A clone of this device, or the like, has the same conflict.
      _ = try other.core.write { (try $0.handOver(handover), []) }
      return
    }
    let isMine = try other.core.write { (try $0.handOver(handover), []) }
    try settle(handover, isMine: isMine)
  }

  private func settle(_ handover: Handover, isMine: Bool) throws(KeepsakeError) {
    try core.write { connection in
      let what = "FROM conflict WHERE \(Handover.same) AND resolved = ?6"
      let arguments = handover.identity + [.integer(Resolution.onItsWay)]
      if isMine {
        try connection.run(
          "UPDATE conflict SET resolved = 0 WHERE id IN (SELECT id \(what))", arguments)
      } else {
        try connection.run("DELETE \(what)", arguments)
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

  fileprivate func resolution(of handover: Handover) throws -> Int64? {
    try first(
      "SELECT min(resolved) FROM conflict WHERE \(Handover.same) HAVING count(*) > 0",
      handover.identity
    ) { $0.integer(0) }
  }

  /// - Returns: false when this log has the conflict already, as one of its own.
  fileprivate func expect(_ handover: Handover) throws -> Bool {
    let state = try resolution(of: handover)
    if state == Resolution.onItsWay { return true }
    if state == Resolution.handedOver {
      try run(
        "UPDATE conflict SET resolved = 2 WHERE \(Handover.same) AND resolved = 3",
        handover.identity)
      return true
    }
    guard state == nil else { return false }
    try run(
      """
      INSERT INTO conflict (\(Handover.columns), resolved)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 2)
      """, handover.cells)
    try ConflictLog.trim(self)
    return true
  }

  /// - Returns: whether it was open until now.
  fileprivate func handOver(_ handover: Handover) throws -> Bool {
    try run(
      "UPDATE conflict SET resolved = 3 WHERE \(Handover.same) AND resolved = 0", handover.identity)
    return changes > 0
  }
}
