// SPDX-License-Identifier: Apache-2.0
//
// A meeting with a hub that stands as the device has left it: one request where only the device has
// news, or nobody; two where the hub has. The request says what the device remembers, and the hub
// refuses it if that is not how it stands; then the exchange goes step by step.
//
// Invariants beside those of an exchange
// - Before rows are sent the device writes the token under which the hub reads them. It does so
//   only when it knows for certain under which one the hub has read last (`isSettled`): it keeps
//   the last ones, and if more requests than that could still be under way, it could meet a token
//   of its own that it does not know any more, and would take itself for a copy.
// - What the hub writes of its own it gives a new token for, in the transaction that takes what is
//   sent. So the device's cursor passes its own rows under a token that knows them.

import KeepsakeDevice
import KeepsakeValues

/// What a device remembers of a hub, from one snapshot.
struct Recollection {
  let side: PairSnapshot.Side
  let revocations: [ReplicaID: HybridTimestamp]

  init(
    of hub: ReplicaID, _ stores: [ByteText], from device: Device
  ) throws(KeepsakeError) {
    self = try device.core.read { connection in
      Recollection(
        side: try PairSnapshot.Side(connection, of: hub, stores),
        revocations: try connection.revocations())
    }
  }

  private init(side: PairSnapshot.Side, revocations: [ReplicaID: HybridTimestamp]) {
    (self.side, self.revocations) = (side, revocations)
  }

  /// Whether each side has read the other, and the hub has missed no deletion that the device has
  /// forgotten.
  var isOfPeer: Bool {
    side.memory.allSatisfy { $0.readToken != nil && $0.acked >= side.forgotten }
  }

  /// Whether the hub has something to read.
  var hasNews: Bool { side.memory.contains { $0.acked < side.lseq } }

  /// Whether the device knows under which token the hub has read last.
  var isSettled: Bool { side.memory.allSatisfy { $0.theirRead == $0.token } }

  /// What the hub remembers, as far as a device that offers it rows has to know.
  var hubsMemory: [PeerState] {
    side.memory.map { PeerState(cursor: $0.acked, readToken: $0.theirRead) }
  }
}
