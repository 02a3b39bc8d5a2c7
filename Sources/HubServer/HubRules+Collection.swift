// SPDX-License-Identifier: Apache-2.0
//
// Which devices a hub waits for before it forgets a deletion.

import KeepsakeSync
package import KeepsakeValues

extension HubRules {
  /// Lets collection no longer wait for a device, until that comes again.
  package static func retire(_ device: ReplicaID, _ tables: any HubTables) throws {
    guard var known = try tables.allPeers()[device] else { return }
    for store in known.keys { known[store]?.isRetired = true }
    let stores = known.keys.sorted()
    try tables.save(stores.compactMap { known[$0] }, device, stores)
  }

  /// The devices that collection does not wait for because they were retired.
  package static func retired(_ tables: any HubTables) throws -> Set<ReplicaID> {
    Set(try tables.allPeers().filter { $0.value.values.allSatisfy(\.isRetired) }.keys)
  }
}
