// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeHubServer
package import KeepsakeSync
package import KeepsakeValues
import Synchronization

/// A hub of one account that is gone with its process: for tests, and the shortest form of the
/// tables.
package final class MemoryHub: Sendable {
  struct Content: Sendable {
    var account: HubAccount
    var rows: [Address: HubAnswer.Row] = [:]
    var held: Set<HeldRow> = []
    var seen: [ByteText: [ReplicaID: HybridTimestamp]] = [:]
    var revocations: [ReplicaID: HybridTimestamp] = [:]
    var peers: [ReplicaID: [ByteText: HubPeer]] = [:]
  }

  /// All of a hub at one moment.
  package struct Image: Sendable {
    fileprivate let content: Content
  }

  private let content: Mutex<Content>

  private let limits: HubLimits

  package init(_ hub: ReplicaID, limits: HubLimits = HubLimits()) {
    content = Mutex(Content(account: HubAccount(hub: hub)))
    self.limits = limits
  }

  /// Answers a request, all of it or nothing.
  package func answer(
    _ request: HubRequest, at now: Int64
  ) throws -> Result<HubAnswer, HubRefusal> {
    try content.withLock { content in
      let transaction = Transaction(content)
      do {
        let answer = try HubRules.answer(request, transaction, at: now, within: limits)
        content = transaction.content
        return .success(answer)
      } catch let refusal as HubRefusal {
        return .failure(refusal)
      }
    }
  }

  package var image: Image { content.withLock { Image(content: $0) } }

  /// Goes back, or on, to another state.
  package func restore(_ image: Image) { content.withLock { $0 = image.content } }

  /// Every row, by address.
  package var rows: [HubAnswer.Row] {
    content.withLock { content in
      content.rows.values.sorted { $0.entry.address < $1.entry.address }
    }
  }

  /// When it met a device last, in milliseconds since 1970; nil when it never has.
  package func lastMet(_ device: ReplicaID, _ store: ByteText) -> Int64? {
    content.withLock { $0.peers[device]?[store]?.lastMet }
  }

  package var id: ReplicaID { content.withLock(\.account.hub) }

  package var held: Set<Entry> { Set(content.withLock(\.held).map(\.entry)) }

  /// The devices that collection does not wait for.
  package var retired: Set<ReplicaID> {
    get throws { try content.withLock { try HubRules.retired(Transaction($0)) } }
  }

  package func retire(_ device: ReplicaID) throws {
    try content.withLock { content in
      let transaction = Transaction(content)
      try HubRules.retire(device, transaction)
      content = transaction.content
    }
  }

  package var account: HubAccount { content.withLock(\.account) }

  /// Looks at its tables; what that changes is gone afterwards.
  package func read<Value: Sendable>(_ work: (any HubTables) throws -> Value) throws -> Value {
    try content.withLock { try work(Transaction($0)) }
  }

  final class Transaction: HubTables {
    var content: Content

    init(_ content: Content) { self.content = content }

    var account: HubAccount { content.account }
    func save(_ account: HubAccount) { content.account = account }

    // MARK: - Rows

    func rows(at addresses: [Address]) -> [Address: HubAnswer.Row] {
      addresses.reduce(into: [:]) { found, address in found[address] = content.rows[address] }
    }

    func rows(
      after cursors: [ByteText: Int64], and after: Int64, through: Int64, except echo: EchoRange,
      _ limit: HubRequest.PageLimit
    ) -> (rows: [HubAnswer.Row], hasMore: Bool) {
      let all = content.rows.values.filter { row in
        guard let cursor = cursors[row.entry.address.store] else { return false }
        return row.seq > max(cursor, after) && row.seq <= through
          && !(row.seq > echo.lower && row.seq <= echo.upper)
      }.sorted { $0.seq < $1.seq }
      var (rows, bytes) = ([HubAnswer.Row](), 0)
      for row in all {
        guard rows.count < limit.rows, bytes < limit.bytes else { return (rows, true) }
        rows.append(row)
        bytes += row.entry.size
      }
      return (rows, false)
    }

    func put(_ rows: [HubAnswer.Row]) {
      for row in rows { content.rows[row.entry.address] = row }
    }

    func tombstones(
      of store: ByteText, through seq: Int64, before timestamp: HybridTimestamp, limit: Int
    ) -> [HubAnswer.Row] {
      let all = content.rows.values.filter { row in
        row.entry.address.store == store && row.entry.content.isTombstone && row.seq <= seq
          && row.entry.timestamp < timestamp
      }
      return Array(all.sorted { $0.seq < $1.seq }.prefix(limit))
    }

    func remove(_ rows: [HubAnswer.Row]) {
      for row in rows { content.rows[row.entry.address] = nil }
    }

    func lastOfEachStore() -> [ByteText: Int64] {
      content.rows.values.reduce(into: [:]) { last, row in
        last[row.entry.address.store] = max(last[row.entry.address.store] ?? 0, row.seq)
      }
    }

    func hasRows(of origin: ReplicaID, after timestamp: HybridTimestamp) -> Bool {
      content.rows.values.contains {
        $0.entry.origin == origin && $0.entry.timestamp > timestamp
      }
    }

    // MARK: - What waits

    func hold(_ rows: [HeldRow]) {
      for row in rows {
        let entry = row.entry
        // Of two copies that wrote at one moment the one that comes last has been decided.
        content.held = content.held.filter {
          $0.entry.address != entry.address || $0.entry.timestamp != entry.timestamp
            || $0.entry.origin != entry.origin
        }
        content.held.insert(row)
      }
    }

    func due(upTo horizon: HybridTimestamp) -> [HeldRow] {
      content.held.filter { $0.entry.timestamp <= horizon }.sorted {
        let (a, b) = ($0.entry, $1.entry)
        return (a.timestamp, a.origin, a.address) < (b.timestamp, b.origin, b.address)
      }
    }

    func dropHeld(_ entries: [Entry]) {
      let gone = Set(entries)
      content.held = content.held.filter { !gone.contains($0.entry) }
    }

    var heldCount: Int { content.held.count }

    // MARK: - What was seen

    func seen(of stores: [ByteText]) -> [HubRequest.Seen] {
      stores.flatMap { store in
        (content.seen[store] ?? [:]).sorted { $0.key < $1.key }
          .map { HubRequest.Seen(store, $0.key, $0.value) }
      }
    }

    func raise(_ seen: [HubRequest.Seen]) {
      for seen in seen {
        let known = content.seen[seen.store]?[seen.origin] ?? .zero
        content.seen[seen.store, default: [:]][seen.origin] = max(known, seen.timestamp)
      }
    }

    func cutSeen(of origin: ReplicaID, to timestamp: HybridTimestamp) {
      for (store, all) in content.seen {
        if let known = all[origin] { content.seen[store]?[origin] = min(known, timestamp) }
      }
    }

    // MARK: - What does not stand

    func revocations() -> [ReplicaID: HybridTimestamp] { content.revocations }

    func revoke(_ origin: ReplicaID, after timestamp: HybridTimestamp) {
      content.revocations[origin] = timestamp
    }

    // MARK: - Devices

    func peers(_ device: ReplicaID, _ stores: [ByteText]) -> [HubPeer] {
      stores.map { content.peers[device]?[$0] ?? HubPeer() }
    }

    func save(_ peers: [HubPeer], _ device: ReplicaID, _ stores: [ByteText]) {
      for (store, peer) in zip(stores, peers) { content.peers[device, default: [:]][store] = peer }
    }

    func allPeers() -> [ReplicaID: [ByteText: HubPeer]] { content.peers }

    var hasPeers: Bool { !content.peers.isEmpty }

    func rewindPeers() {
      for (device, stores) in content.peers {
        for store in stores.keys { content.peers[device]?[store]?.state.cursor = 0 }
      }
    }

    func clearPeers() { content.peers = [:] }
  }
}
