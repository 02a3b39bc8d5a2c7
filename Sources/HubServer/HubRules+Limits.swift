// SPDX-License-Identifier: Apache-2.0
//
// What the hub does not take from anybody. A row over a limit refuses the request that brings it,
// rather than be left out: the hub would claim to have seen it, and hide its conflicts.

import KeepsakeSync
import KeepsakeValues

extension HubRules {
  /// Refuses what no device asks, whatever has read the text of it.
  static func checkForm(_ request: HubRequest, _ bounds: HubLimits) throws {
    let stores = Set(request.stores)
    guard stores.count == request.stores.count else {
      throw HubFault.malformed("a store is named twice")
    }
    for store in request.stores where !StoreName.isSynced(store.string) {
      throw HubFault.malformed("the store \(store.string) does not sync")
    }
    try check(stores.count, bounds.stores, "stores", "the request names too many stores")
    for store in request.stores {
      try check(
        store.string.utf8.count, bounds.keyBytes, "keyBytes", "the name of a store is too long")
    }
    // Each step costs, and the request may have as many as its text has room for.
    guard Set(request.steps.map(kind)).count == request.steps.count else {
      throw HubFault.malformed("it has two steps of a kind")
    }
    var lengths = [request.expected?.peers.count, request.recalled?.peers.count]
    for step in request.steps {
      switch step {
      case .offer(let offer): lengths.append(offer.memory.count)
      case .more(let more): lengths.append(more.offer.memory.count)
      case .push(let push):
        lengths.append(push.read.count)
        guard (push.seen ?? []).allSatisfy({ stores.contains($0.store) }) else {
          throw HubFault.malformed("what was seen is of a store that the request does not name")
        }
      case .acknowledge(let cursors): lengths.append(cursors.count)
      case .revoke, .rename, .rewind: break
      }
    }
    guard lengths.allSatisfy({ $0 == nil || $0 == request.stores.count }) else {
      throw HubFault.malformed("a list has another length than that of the stores")
    }
  }

  private static func kind(_ step: HubRequest.Step) -> Int {
    switch step {
    case .revoke: 0
    case .rename: 1
    case .rewind: 2
    case .offer: 3
    case .more: 4
    case .push: 5
    case .acknowledge: 6
    }
  }

  /// Only where rows are taken: who has something to read reads it, whatever it brings.
  func checkRows(_ rows: [Entry], _ request: HubRequest) throws {
    let stores = Set(request.stores)
    for entry in rows { try check(entry, stores) }
  }

  private func check(_ entry: Entry, _ stores: Set<ByteText>) throws {
    guard stores.contains(entry.address.store) else {
      throw HubFault.malformed("a row is of a store that the request does not name")
    }
    guard !entry.address.key.string.isEmpty, entry.timestamp >= .zero, entry.origin.rawValue > 0
    else {
      throw HubFault.malformed("a row is none that a device writes")
    }
    let name = "\(entry.address.store.string)/\(entry.address.key.string)"
    try Self.check(
      entry.address.key.string.utf8.count, bounds.keyBytes, "keyBytes",
      "the key of \(name.prefix(100)) is too long")
    try Self.check(
      entry.content.cell.byteCount, bounds.valueBytes, "valueBytes",
      "the value of \(name) is too large")
  }

  private static func check(_ count: Int, _ most: Int, _ limit: String, _ problem: String) throws {
    guard count <= most else {
      throw HubFault.limit(limit, "\(problem): \(count), and the hub takes \(most)")
    }
  }

  /// Refuses rows of more stores than an account has.
  func checkStores(with entries: some Sequence<Entry>) throws {
    let present = try Set(tables.lastOfEachStore().keys)
    var stores = present.union(entries.map(\.address.store))
    guard stores != present else { return }
    let held = try tables.due(upTo: HybridTimestamp(rawValue: .max))
    stores.formUnion(held.map(\.entry.address.store))
    try Self.check(stores.count, bounds.stores, "stores", "there are too many stores")
  }

  /// Counts a row that the account gets, or one that it loses.
  ///
  /// - Parameter sign: 1 or -1.
  mutating func count(_ entry: Entry, _ sign: Int64) {
    account.rows += sign
    account.bytes += sign * Int64(entry.cost)
  }

  /// Counts rows that will wait; one that waits already is replaced, and is no new one.
  mutating func countHeld(_ entries: [Entry]) throws {
    guard !entries.isEmpty else { return }
    func place(_ entry: Entry) -> Entry {
      Entry(entry.address, .tombstone, timestamp: entry.timestamp, origin: entry.origin)
    }
    var waiting = Dictionary(
      try tables.due(upTo: HybridTimestamp(rawValue: .max)).map { (place($0.entry), $0.entry) },
      uniquingKeysWith: { $1 })
    let before = waiting.count
    for entry in entries {
      if let known = waiting.updateValue(entry, forKey: place(entry)) { count(known, -1) }
      count(entry, 1)
    }
    if waiting.count > before {
      try Self.check(waiting.count, bounds.held, "held", "too many rows are from the future")
    }
  }

  /// Refuses a push by which a full account would grow; what lets it shrink, or stay, comes in.
  func checkRoom(since before: HubAccount) throws {
    if account.rows > before.rows {
      try Self.check(Int(account.rows), bounds.rows, "rows", "the account has too many rows")
    }
    if account.bytes > before.bytes {
      try Self.check(Int(account.bytes), bounds.bytes, "bytes", "the account's rows are too large")
    }
  }

  /// Refuses to remember one more device.
  func checkReplicas(with device: ReplicaID) throws {
    let known = try Set(tables.allPeers().keys).union([device])
    try Self.check(known.count, bounds.replicas, "replicas", "too many replica IDs have come")
  }

  func checkRevocations() throws {
    try Self.check(
      limits.count, bounds.revocations, "revocations", "too many replica IDs are revoked")
  }

  /// As much of a version vector as there is room for.
  func fitting(_ seen: [HubRequest.Seen]) throws -> [HubRequest.Seen] {
    var known = Dictionary(
      grouping: try tables.seen(of: Set(seen.map(\.store)).sorted()), by: \.store
    ).mapValues { Set($0.map(\.origin)) }
    return seen.filter { seen in
      let origins = known[seen.store] ?? []
      guard origins.contains(seen.origin) || origins.count < bounds.origins else { return false }
      known[seen.store, default: []].insert(seen.origin)
      return true
    }
  }
}
