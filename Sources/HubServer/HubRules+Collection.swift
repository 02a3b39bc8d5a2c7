// SPDX-License-Identifier: Apache-2.0
//
// When a hub forgets a deletion, and which devices it waits for before. Whoever has not read a
// deletion that is gone reads the hub from the beginning, and gives all that it has: what was
// deleted may come back so, and the first device that knows the deletion deletes it again.

import KeepsakeSync
package import KeepsakeValues

extension HubRules {
  private static let day: Int64 = 86_400_000
  /// Rows of a store that one request looks at.
  private static let batch = 1000

  private func ago(days: Int64) -> HybridTimestamp {
    HybridTimestamp(milliseconds: now - days * Self.day)
  }

  /// Whether a row is a deletion that need not be kept once everybody has it.
  func isOldDeletion(_ entry: Entry) -> Bool {
    entry.content.isTombstone && entry.timestamp < ago(days: 90)
  }

  /// Once a day, forgets the old deletions that every device that it waits for has read.
  mutating func collect() throws {
    // A clock that was ahead may have dated the last time.
    guard !(now - Self.day...now).contains(account.collected) else { return }
    let peers = try datedPeers()
    let away = peers.filter { isAway($0.value) }
    let waiting = try heldAddresses()
    var isDone = true
    for store in try tables.lastOfEachStore().keys.sorted() {
      let read = peers.filter { away[$0.key] == nil }.compactMap { $0.value[store]?.state.acked }
      guard let bound = read.min() else { continue }
      let old = try tables.tombstones(
        of: store, through: bound, before: ago(days: 90), limit: Self.batch)
      let gone = old.filter { !waiting.contains($0.entry.address) }
      guard let last = gone.last?.seq else { continue }
      for row in gone { count(row.entry, -1) }
      try tables.remove(gone)
      account.forgotten = max(account.forgotten, last)
      try rewind(away, store, before: last)
      isDone = isDone && old.count < Self.batch
    }
    if isDone { account.collected = now }
    try makeRoom(without: away)
  }

  /// Where no more devices can be remembered, forgets those that were away longest. To one that
  /// comes back the hub is one that was restored.
  private func makeRoom(without away: [ReplicaID: [ByteText: HubPeer]]) throws {
    let peers = try tables.allPeers()
    guard peers.count >= bounds.replicas, !away.isEmpty else { return }
    let longest = away.sorted { (lastMet($0.value), $0.key) < (lastMet($1.value), $1.key) }
    let gone = Set(longest.prefix(peers.count - bounds.replicas * 9 / 10).map(\.key))
    try tables.clearPeers()
    for (device, known) in peers where !gone.contains(device) {
      try tables.save(known, of: device)
    }
  }

  private func lastMet(_ known: [ByteText: HubPeer]) -> Int64 {
    known.values.map(\.lastMet).max() ?? 0
  }

  /// What is remembered of every device. What a clock that was ahead has dated was at the latest
  /// now.
  private func datedPeers() throws -> [ReplicaID: [ByteText: HubPeer]] {
    var peers = try tables.allPeers()
    for (device, known) in peers where known.values.contains(where: { $0.lastMet > now }) {
      let dated = known.mapValues { peer in
        var peer = peer
        peer.lastMet = min(peer.lastMet, now)
        return peer
      }
      peers[device] = dated
      try tables.save(dated, of: device)
    }
    return peers
  }

  /// Whether collection does not wait for a device: it was retired, or not met for 180 days.
  func isAway(_ known: [ByteText: HubPeer]) -> Bool {
    known.values.allSatisfy(\.isRetired) || now - lastMet(known) > 180 * Self.day
  }

  private func heldAddresses() throws -> Set<Address> {
    guard try tables.heldCount > 0 else { return [] }
    return Set(try tables.due(upTo: HybridTimestamp(rawValue: .max)).map(\.entry.address))
  }

  /// Lets those who have not read a deletion that is gone give all that they have again. One that
  /// is in the middle of an exchange just now has to begin again.
  private func rewind(
    _ away: [ReplicaID: [ByteText: HubPeer]], _ store: ByteText, before seq: Int64
  ) throws {
    for (device, known) in away {
      guard var peer = known[store], peer.state.acked < seq, peer.state.cursor > 0 else { continue }
      peer.state.cursor = 0
      try tables.save([peer], device, [store])
    }
  }

  /// Lets collection no longer wait for a device, until that comes again.
  package static func retire(_ device: ReplicaID, _ tables: any HubTables) throws {
    guard var known = try tables.allPeers()[device] else { return }
    for store in known.keys { known[store]?.isRetired = true }
    try tables.save(known, of: device)
  }

  /// The devices that collection does not wait for because they were retired.
  package static func retired(_ tables: any HubTables) throws -> Set<ReplicaID> {
    Set(try tables.allPeers().filter { $0.value.values.allSatisfy(\.isRetired) }.keys)
  }
}

extension HubTables {
  fileprivate func save(_ known: [ByteText: HubPeer], of device: ReplicaID) throws {
    let stores = known.keys.sorted()
    try save(stores.compactMap { known[$0] }, device, stores)
  }
}
