// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
import KeepsakeValues

/// A device of this process as a side of an exchange. It is read by attaching its file.
struct FileParty: Party {
  let device: Device
  /// Whether it takes a lease for each reading, because the merge holds none: while a request is
  /// under way others may merge the file.
  let takesLeases: Bool

  init(device: Device, takesLeases: Bool = false) {
    (self.device, self.takesLeases) = (device, takesLeases)
  }

  var name: String { device.path }
  var isHub: Bool { false }
  var now: Int64 { device.clock.milliseconds }

  // MARK: - What it says

  func replica() throws(KeepsakeError) -> ReplicaID { try device.replica() }

  func side(
    toward peer: ReplicaID, _ stores: [ByteText]
  ) throws(KeepsakeError) -> PairSnapshot.Side {
    try device.core.read { try PairSnapshot.Side($0, of: peer, stores) }
  }

  func syncedStores() throws(KeepsakeError) -> Set<ByteText> {
    try device.core.access { try $0.syncedStores() }
  }

  func holdsAny() throws(KeepsakeError) -> Bool {
    try device.core.access { try Held.mattersAny($0) }
  }

  func hasMet() throws(KeepsakeError) -> Bool {
    try device.core.access { try $0.hasMet() }
  }

  func hasEntries(of stores: [ByteText], after cursors: [Int64]) throws(KeepsakeError) -> Bool {
    try device.core.access { connection in
      try zip(stores, cursors).contains { store, cursor in
        try connection.first(
          "SELECT 1 FROM entry INDEXED BY entry_lseq WHERE lseq > ?1 AND store = ?2 LIMIT 1",
          [.integer(cursor), .text(store.string)]
        ) { _ in true } ?? false
      }
    }
  }

  func revocations() throws(KeepsakeError) -> [ReplicaID: HybridTimestamp] {
    try device.core.access { try $0.revocations() }
  }

  // MARK: - What it notes

  func revoke(
    after limits: [ReplicaID: HybridTimestamp], as id: ReplicaID
  ) throws(KeepsakeError) -> (entries: Int, isCopy: Bool) {
    try leased { () throws(KeepsakeError) in
      try device.core.write { connection in
        let before = try ReplicaState(connection).id
        let count = try limits.sorted { $0.key < $1.key }.reduce(0) {
          try $0 + connection.revoke($1.key, after: $1.value, as: id)
        }
        return ((count, try ReplicaState(connection).id != before), [])
      }
    }
  }

  func rotate(
    to id: ReplicaID, against peer: any Party, known: PairSnapshot.Side?, _ stores: [ByteText],
    if isNeeded: (_ mine: PairSnapshot.Side, _ theirs: PairSnapshot.Side) -> Bool
  ) throws(KeepsakeError) {
    try leased { () throws(KeepsakeError) in
      try peer.lend(to: device) { () throws(KeepsakeError) in
        try device.core.write { connection in
          var replica = try ReplicaState(connection)
          let theirs =
            try known ?? PairSnapshot.Side(connection, in: "sender", of: replica.id, stores)
          let mine = try PairSnapshot.Side(connection, of: theirs.replica, stores)
          guard isNeeded(mine, theirs) else { throw MergeRetry.interrupted(name) }
          try connection.rotate(&replica, to: id)
          return ((), [])
        }
      }
    }
  }

  /// Runs `body` under a lease, if the merge has none: what it writes may not come between the
  /// transactions of another one, which would write cursors of before.
  private func leased<Value>(
    _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    guard takesLeases else { return try body() }
    return try Lease.hold([device.core.storage], body)
  }

  func rewind(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError) {
    try device.core.write { connection in
      for store in stores { try connection.peers.rewind(peer, store: store) }
      return ((), [])
    }
  }

  func offer(
    _ token: ExchangeToken, to reader: ReplicaID, remembering memory: [PeerState],
    of stores: [ByteText], except echo: EchoRange
  ) throws(KeepsakeError) -> Pull.Offer {
    try offer(token, to: reader, remembering: memory, of: stores, ifIts: nil)
  }

  /// - Parameter known: what must still be its own side.
  func offer(
    _ token: ExchangeToken, to reader: ReplicaID, remembering memory: [PeerState],
    of stores: [ByteText], ifIts known: PairSnapshot.Side?
  ) throws(KeepsakeError) -> Pull.Offer {
    let lseq = try device.core.write { connection in
      if let known {
        let mine = try PairSnapshot.Side(connection, of: reader, stores)
        guard mine.replica == known.replica, mine.memory == known.memory else {
          throw MergeRetry.interrupted(name)
        }
      }
      for (store, theirs) in zip(stores, memory) {
        var state = try connection.peers.state(of: reader, store: store)
        state.acked = max(state.acked, theirs.cursor)
        state.theirRead = theirs.readToken
        (state.prior, state.token) = (state.token, token)
        try connection.peers.save(state, of: reader, store: store, at: now)
      }
      return (try ReplicaState(connection).lseq, [])
    }
    return Pull.Offer(token: token, lseq: lseq)
  }

  func acknowledge(
    _ cursors: [(store: ByteText, cursor: Int64)], by peer: ReplicaID
  ) throws(KeepsakeError) {
    try device.core.write { connection in
      for (store, cursor) in cursors {
        try connection.peers.acknowledge(cursor, of: store, by: peer)
      }
      return ((), [])
    }
  }

  /// Notes that a hub has read up to a local sequence number, under the last token that it was
  /// offered.
  func settle(
    _ stores: [ByteText], of hub: ReplicaID, under token: ExchangeToken, through lseq: Int64
  ) throws(KeepsakeError) {
    try device.core.write { connection in
      for store in stores {
        var state = try connection.peers.state(of: hub, store: store)
        guard state.token == token else { continue }
        state.acked = max(state.acked, lseq)
        state.theirRead = token
        try connection.peers.save(state, of: hub, store: store, at: now)
      }
      return ((), [])
    }
  }

  func noteMet(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError) {
    let now = now
    for store in stores {
      let isDue = try device.core.access { try $0.peers.isDateDue(peer, store: store, at: now) }
      guard isDue else { continue }
      try device.core.write { (try $0.peers.noteMet(peer, store: store, at: now), []) }
    }
  }

  // MARK: - Reading and being read

  func lend(
    to receiver: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try receiver.core.withSender(device.core, body)
  }

  func read(_ pull: Pull, _ result: inout Pull.Result) throws(KeepsakeError) {
    try leased { () throws(KeepsakeError) in try pull.run(into: device, &result) }
  }
}

extension Device {
  /// This device as a side of an exchange.
  package func party(takesLeases: Bool = false) -> any Party {
    FileParty(device: self, takesLeases: takesLeases)
  }
}
