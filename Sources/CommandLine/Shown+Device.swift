// SPDX-License-Identifier: Apache-2.0
//
// Data of a device other than its entries, for programs.

package import KeepsakeDevice
package import KeepsakeSync
package import KeepsakeValues

extension Shown {
  /// `{"peer","synced","stores"}`.
  package static func peer(_ peer: Device.Peer) -> [JSON.Member] {
    [
      JSON.Member("peer", .string(peer.id.description)),
      JSON.Member("synced", peer.lastSync.map(time) ?? .null),
      JSON.Member(
        "stores",
        .object(
          peer.stores.map { progress in
            JSON.Member(
              progress.store,
              .object([
                "read": .integer(progress.read), "sent": .integer(progress.sent),
              ]))
          })),
    ]
  }

  /// `{"replica","until","reason"}`.
  package static func former(_ replica: FormerReplica) -> JSON {
    .object([
      "replica": .string(replica.id.description), "until": time(replica.endedAt),
      "reason": replica.reason.map { .string($0.rawValue) } ?? .null,
    ])
  }

  package static func text(_ reason: NewIDReason?) -> String {
    switch reason {
    case .clone: "it is a clone of that one"
    case .restore: "a backup was restored"
    case .recovery: "a backup took the place of the damaged file"
    case .account: "it has joined another account of a hub"
    case .copy: "a sync found that it was a copy, or set back to an earlier state"
    case .clock: "its clock had run ahead"
    case nil: "for a reason that this version does not know"
    }
  }

  /// `{"kind","problem","cure","repaired"}`.
  package static func finding(_ finding: Finding) -> JSON {
    .object([
      "kind": .string(finding.kind.rawValue), "problem": .string(finding.problem),
      "cure": .string(finding.cure), "repaired": .boolean(finding.isRepaired),
    ])
  }
}
