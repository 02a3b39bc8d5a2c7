// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSync
package import KeepsakeValues

/// What a hub keeps of one account, within a transaction that no other one of the account overlaps.
///
/// It keeps, and decides nothing: all that is decided is in `HubRules`, once for every kind of
/// store. It never looks at a value.
package protocol HubTables {
  /// Says which request will be answered, so that tables that are far away can fetch what it reads
  /// at once. It changes nothing else.
  func prefetch(_ request: HubRequest) throws

  // MARK: - The account

  var account: HubAccount { get throws }
  func save(_ account: HubAccount) throws

  // MARK: - Rows

  /// The rows at these addresses, those that there are.
  func rows(at addresses: [Address]) throws -> [Address: HubAnswer.Row]

  /// Rows by sequence number, as many as the limit takes, one at least.
  ///
  /// - Parameters:
  ///   - cursors: by store, where to begin; other stores are left out.
  ///   - after: a sequence number before which there is nothing to read.
  ///   - through: the last sequence number to be read.
  ///   - echo: sequence numbers that are left out.
  /// - Returns: whether there are more, too.
  func rows(
    after cursors: [ByteText: Int64], and after: Int64, through: Int64, except echo: EchoRange,
    _ limit: HubRequest.PageLimit
  ) throws -> (rows: [HubAnswer.Row], hasMore: Bool)

  /// Puts rows in the place of those with the same addresses.
  func put(_ rows: [HubAnswer.Row]) throws

  /// The largest sequence number in each store that has rows.
  func lastOfEachStore() throws -> [ByteText: Int64]

  /// The first deletions of a store, by sequence number.
  ///
  /// - Parameters:
  ///   - seq: the last sequence number to be looked at.
  ///   - timestamp: the first one that is too young.
  ///   - limit: how many at most.
  func tombstones(
    of store: ByteText, through seq: Int64, before timestamp: HybridTimestamp, limit: Int
  ) throws -> [HubAnswer.Row]

  /// Removes rows, by their addresses.
  func remove(_ rows: [HubAnswer.Row]) throws

  /// Whether an origin has a row that is later than a timestamp.
  func hasRows(of origin: ReplicaID, after timestamp: HybridTimestamp) throws -> Bool

  // MARK: - What waits

  /// Puts rows that are from the future aside, each once.
  func hold(_ rows: [HeldRow]) throws
  /// The rows that wait up to a timestamp, the first ones first.
  func due(upTo horizon: HybridTimestamp) throws -> [HeldRow]
  func dropHeld(_ entries: [Entry]) throws
  /// How many wait.
  var heldCount: Int { get throws }
  /// The first that waits of each origin in these stores; later ones may follow.
  func firstHeld(of stores: [ByteText]) throws -> [HubRequest.Seen]

  // MARK: - What was seen

  func seen(of stores: [ByteText]) throws -> [HubRequest.Seen]
  /// Raises what was seen to these, where it is lower.
  func raise(_ seen: [HubRequest.Seen]) throws
  /// Lowers what was seen of an origin to a timestamp.
  func cutSeen(of origin: ReplicaID, to timestamp: HybridTimestamp) throws

  // MARK: - What does not stand

  func revocations() throws -> [ReplicaID: HybridTimestamp]
  func revoke(_ origin: ReplicaID, after timestamp: HybridTimestamp) throws

  // MARK: - Devices

  func peers(_ device: ReplicaID, _ stores: [ByteText]) throws -> [HubPeer]
  func save(_ peers: [HubPeer], _ device: ReplicaID, _ stores: [ByteText]) throws
  /// What is remembered of every device.
  func allPeers() throws -> [ReplicaID: [ByteText: HubPeer]]
  var hasPeers: Bool { get throws }
  /// Forgets how far every device was read.
  func rewindPeers() throws
  /// Forgets all devices.
  func clearPeers() throws
}

extension HubTables {
  package func prefetch(_ request: HubRequest) throws {}

  package func allPeers() throws -> [ReplicaID: [ByteText: HubPeer]] { [:] }
  package func tombstones(
    of store: ByteText, through seq: Int64, before timestamp: HybridTimestamp, limit: Int
  ) throws -> [HubAnswer.Row] { [] }
  package func remove(_ rows: [HubAnswer.Row]) throws {}
}

extension HubTables {
  package var heldCount: Int {
    get throws { try due(upTo: HybridTimestamp(rawValue: .max)).count }
  }

  package func firstHeld(of stores: [ByteText]) throws -> [HubRequest.Seen] {
    try due(upTo: HybridTimestamp(rawValue: .max)).map(\.entry)
      .filter { stores.contains($0.address.store) }
      .map { HubRequest.Seen($0.address.store, $0.origin, $0.timestamp) }
  }
}

/// A row that waits for its time.
package struct HeldRow: Sendable, Hashable {
  package var entry: Entry
  /// The device that pushed it last.
  package var device: ReplicaID
  /// The account's last sequence number then: what had come up to it that device had read.
  package var seq: Int64

  package init(_ entry: Entry, by device: ReplicaID, after seq: Int64) {
    (self.entry, self.device, self.seq) = (entry, device, seq)
  }
}

/// An account, as devices meet it.
package struct HubAccount: Sendable, Equatable {
  package var hub: ReplicaID
  /// Under which replica IDs it was met before it was restored.
  package var former: [ReplicaID] = []
  /// The last sequence number that was given.
  package var seq: Int64 = 0
  /// The one up to which deletions were forgotten.
  package var forgotten: Int64 = 0
  /// Rows, those that wait among them.
  package var rows: Int64 = 0
  /// What these cost: see `Entry.cost`.
  package var bytes: Int64 = 0
  /// When deletions were looked for that can be forgotten, in milliseconds since 1970.
  package var collected: Int64 = 0

  package init(hub: ReplicaID) { self.hub = hub }
}

/// What a hub remembers of a device in a store.
package struct HubPeer: Sendable, Equatable {
  package var state = PeerState()
  /// Milliseconds since 1970.
  package var lastMet: Int64 = 0
  /// Whether collection does not wait for it; until it comes again.
  package var isRetired = false

  package init() {}
}
