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

extension Device {
  /// Takes over the conflicts of a store that are open in the log of another device.
  ///
  /// - Throws: `KeepsakeError`; what was not taken over stays open there.
  package func takeConflicts(store: String, from other: Device) throws(KeepsakeError) {
    guard !isReadOnly, !other.isReadOnly else { return }
    for handover in try core.access({ try $0.conflictLog.handovers(of: store, .onItsWay) }) {
      try alone(with: other) { () throws(KeepsakeError) in try settle(handover, with: other) }
    }
    let open = try other.core.access { try $0.conflictLog.handovers(of: store, .open) }
    for handover in open {
      try alone(with: other) { () throws(KeepsakeError) in try take(handover, from: other) }
    }
    if !open.isEmpty { try core.write { (try $0.conflictLog.trim(), []) } }
  }

  /// Runs `body` while no other handover to or from either device is under way.
  private func alone(
    with other: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try Lease.hold([self, other], waiting: .seconds(60), joins: true, body)
  }

  private func take(
    _ handover: ConflictLog.Handover, from other: Device
  ) throws(KeepsakeError) {
    let receiver = try core.write { (try $0.conflictLog.expect(handover), []) }
    try other.core.write {
      (try $0.conflictLog.move(handover, from: .open, to: .handedOver, receiver: receiver), [])
    }
    try settle(handover, with: other)
  }

  /// Decides what is on its way by what the giving log says of it, if that log knows.
  private func settle(
    _ handover: ConflictLog.Handover, with other: Device
  ) throws(KeepsakeError) {
    let given = try other.core.access { try $0.conflictLog.progress(of: handover) }
    guard let given, given.state?.isResolved == true else { return }
    try core.write { connection in
      let log = connection.conflictLog
      guard let mine = try log.progress(of: handover), mine.state == .onItsWay else {
        return ((), [])
      }
      if given.state == .handedOver, given.receiver == mine.receiver {
        try log.move(handover, from: .onItsWay, to: .open)
      } else {
        try log.drop(handover)
      }
      return ((), [])
    }
  }
}

extension ConflictLog {
  /// Notes a conflict as on its way, unless this log has it already as one of its own.
  ///
  /// - Returns: the receiver, for the giving log.
  fileprivate func expect(_ handover: Handover) throws -> Int64 {
    let receiver = try ReplicaState(connection).id.rawValue
    switch try progress(of: handover) {
    case (.onItsWay, let begun)?: return begun
    case (.handedOver, _)?:
      try move(handover, from: .handedOver, to: .onItsWay, receiver: receiver)
    case nil: try expect(handover, by: receiver)
    default: break  // A clone of the giver, or the like, has the same conflict.
    }
    return receiver
  }
}
