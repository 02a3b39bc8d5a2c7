// SPDX-License-Identifier: Apache-2.0
//
// What a device knows beside its entries, for programs.

package import KeepsakeDevice
package import KeepsakeSync
package import KeepsakeValues

extension Shown {
  /// `{"peer","met","retired","stores"}`.
  package static func peer(_ peer: Device.Peer) -> [JSON.Member] {
    [
      JSON.Member("peer", .string(peer.id.description)), JSON.Member("met", time(peer.lastMet)),
      JSON.Member("retired", .boolean(peer.isRetired)),
      JSON.Member(
        "stores",
        .object(
          peer.stores.map { progress in
            JSON.Member(
              progress.store,
              .object([
                "read": .integer(progress.read), "acknowledged": .integer(progress.acknowledged),
              ]))
          })),
    ]
  }

  /// `{"kind","problem","cure","repaired"}`.
  package static func finding(_ finding: Finding) -> JSON {
    .object([
      "kind": .string(finding.kind.rawValue), "problem": .string(finding.problem),
      "cure": .string(finding.cure), "repaired": .boolean(finding.isRepaired),
    ])
  }
}
