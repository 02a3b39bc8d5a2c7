// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeValues

/// What one direction of a merge reads, and by which rules.
struct PullRequest {
  let giver: Device
  let receiver: Device
  /// Their places among the devices that are merged.
  let direction: (from: Int, into: Int)
  let stores: [ByteText]
  /// Stores that are read from the beginning.
  var inFull: Set<ByteText> = []
  /// Sequence numbers of the giver that are not read: they came from the receiver.
  var skipped = NumberRanges()
  /// Whether the giver is marked. Of another one, what came after its newest mark is read again
  /// each time.
  var marksGiver = true
  /// Writes of the giver that the receiver may not have read, though its vectors cover them.
  var doubt: Incoming.Doubt?
  /// Whether the rows have to be compared with their index, because the files were not checked.
  let checksRows: Bool
  /// What the receiver knows of others.
  let peers: [ReplicaID: [ByteText: PeerRow]]
  let receiverID: ReplicaID
  let options: MergeOptions
  let source: IdentitySource
  let hooks: MergeHooks
  /// Later rows wait.
  let horizon: HybridTimestamp
}

extension HybridTimestamp {
  /// The last timestamp that is not from the future.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: milliseconds that a timestamp may be ahead.
  package static func horizon(now: Int64, skew: Int64) -> HybridTimestamp {
    let (sum, overflow) = now.addingReportingOverflow(skew)
    return HybridTimestamp(milliseconds: overflow ? .max : sum)
  }
}
