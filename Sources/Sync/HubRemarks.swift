// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

// What a meeting with a hub tells beside rows.
extension MergeRun {
  mutating func noteHub() throws(KeepsakeError) {
    guard let hub = parties.last as? HubParty else { return }
    try retire(hub.former())
    let (id, stores) = (try hub.replica(), stores)
    let unsent = try devices[0].core.access { try $0.unsent.count(of: id, in: stores) }
    if let first = unsent.first {
      report.events.append(
        .notSent(
          device: 0, entries: unsent.entries, store: first.store.string, key: first.key.string))
    }
    let advance = try hub.clockAdvance()
    guard advance > options.clockSkew || advance < -options.clockSkew else { return }
    report.events.append(.clockDiffers(device: 1, by: .milliseconds(advance)))
  }

  /// Nobody meets a hub under its former replica IDs again: no collection waits for them.
  private func retire(_ former: [ReplicaID]) throws(KeepsakeError) {
    for id in former {
      guard try devices[0].core.access({ try $0.peers.isAwaited(id) }) else { continue }
      try devices[0].core.write { (try $0.peers.retire(id), []) }
    }
  }
}
