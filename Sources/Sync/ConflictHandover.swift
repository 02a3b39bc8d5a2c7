// SPDX-License-Identifier: Apache-2.0
//
// An open conflict goes from one device's log to another's, so that a resolver has it, exactly
// once. The two files commit one after the other, and the process may end in between:
// 1. the receiving log gets the conflict, as on its way;
// 2. the giving log marks it as handed over to the receiver, unless it is not open any more;
// 3. the receiving log opens it, or drops it if another receiver or a resolver came before 2.
// When either takes conflicts from the other the next time, it goes on from where this ended.
//
// What is on its way names the giver too: a log that the conflict passed through before says that
// it was handed over, but not to whom since.
//
// Both files are leased from the look at the giving log to 3, for one conflict at a time: merges of
// other processes need not wait for all of them. A log that has dropped the conflict meanwhile does
// not say what became of it; then it is opened, so that it may be resolved twice but is not lost.

package import KeepsakeDevice
package import KeepsakeValues

extension Device {
  /// The local sequence number of the last write: a handover gives none.
  package func lastWrite() throws(KeepsakeError) -> Int64 {
    try core.access { try ReplicaState($0).lseq }
  }

  /// Takes over the conflicts of a store that are open in the log of another device.
  ///
  /// - Throws: `KeepsakeError`; what was not taken over stays open there.
  ///
  /// - Parameter left: the identities of those that are not taken.
  package func takeConflicts(
    store: String, from other: Device, except left: Set<[Cell]> = []
  ) throws(KeepsakeError) {
    guard !isReadOnly, !other.isReadOnly else { return }
    try settle(store, with: other)
    try other.settle(store, with: self)
    let open = try other.core.access { try $0.conflictLog.handovers(of: store, .open) }
      .filter { !left.contains($0.identity) }
    for handover in open {
      try alone(with: other) { () throws(KeepsakeError) in try take(handover, from: other) }
    }
    if !open.isEmpty { try core.write { (try $0.conflictLog.trim(), []) } }
  }

  /// Runs `body` while no other handover to or from either device is under way.
  private func alone(
    with other: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try Lease.hold([core.storage, other.core.storage], waiting: .seconds(60), joins: true, body)
  }

  /// Goes on with what is on its way from the other device.
  private func settle(_ store: String, with other: Device) throws(KeepsakeError) {
    for handover in try core.access({ try $0.conflictLog.handovers(of: store, .onItsWay) }) {
      try alone(with: other) { () throws(KeepsakeError) in try settle(handover, with: other) }
    }
  }

  package func take(
    _ handover: ConflictLog.Handover, from other: Device
  ) throws(KeepsakeError) {
    // Another handle may have taken it since the look, and given it on.
    let given = try other.core.access { try $0.conflictLog.progress(of: handover) }
    guard given?.state == .open else { return }
    let (giver, receiver) = (try other.replica().rawValue, try replica().rawValue)
    try core.write { (try $0.conflictLog.expect(handover, from: giver, by: receiver), []) }
    try other.core.write { (try $0.conflictLog.handOver(handover, to: receiver), []) }
    try settle(handover, with: other)
  }

  /// Decides what is on its way by what the giving log says of it, if that is the other's.
  private func settle(
    _ handover: ConflictLog.Handover, with other: Device
  ) throws(KeepsakeError) {
    let (given, identities) = try other.core.access {
      (try $0.conflictLog.progress(of: handover), try Identity.all($0))
    }
    guard given == nil || given?.state?.isResolved == true else { return }
    try core.write { connection in
      let log = connection.conflictLog
      guard let mine = try log.arrival(of: handover), identities.contains(mine.giver) else {
        return ((), [])
      }
      let own = try log.progress(of: handover)?.state
      // A log that has dropped the conflict since cannot give it to others.
      let isMine =
        given.map { $0.state == .handedOver && $0.receiver == mine.receiver } ?? true
      // What was found here too is decided by its own row.
      let isNew = own != .open && own != .resolved
      try isMine && isNew ? log.open(handover) : log.drop(handover)
      return ((), [])
    }
  }
}
