// SPDX-License-Identifier: Apache-2.0
//
// Rows from the future. One that is due may meet what others have written of its key meanwhile. The
// device of the held row has to read that first: its version vector alone tells whether the two
// writes were concurrent, and a hub has no conflict log. Until then the hub keeps the present row,
// and goes on holding the other one, also if that one is to lose.

import KeepsakeSync
import KeepsakeValues

extension HubRules {
  /// Applies the held rows that are due.
  mutating func promote(for request: HubRequest) throws {
    let due = try tables.due(upTo: horizon)
    guard !due.isEmpty else { return }
    let before = try tables.rows(at: due.map(\.entry.address))
    var (present, changed, gone) = (before, [Address: HubAnswer.Row](), [Entry]())
    var (readers, givenUp) = ([Reader: HubPeer](), [ReplicaID: HybridTimestamp]())
    // Of several that may come in the last one does.
    for row in due.reversed() {
      let (entry, known) = (row.entry, present[row.entry.address])
      if let known, entry != known.entry, try !hasRead(row, known, &readers) {
        guard try !isAwaited(row, request, &readers) else { continue }
        gone.append(entry)
        givenUp[entry.origin] = min(givenUp[entry.origin] ?? entry.timestamp, entry.timestamp)
        continue
      }
      gone.append(entry)
      guard known.map({ beats(entry, $0.entry) }) ?? true else { continue }
      changed[entry.address] = number(entry)
      present[entry.address] = changed[entry.address]
    }
    try giveUp(givenUp)
    for entry in gone { count(entry, -1) }
    for (address, row) in changed {
      count(row.entry, 1)
      if let known = before[address] { count(known.entry, -1) }
    }
    try tables.put(changed.values.sorted { $0.seq < $1.seq })
    try tables.dropHeld(gone)
  }

  private func beats(_ entry: Entry, _ known: Entry) -> Bool {
    rank(entry) >= rank(known) && entry != known
  }

  /// Who reads a store.
  private struct Reader: Hashable { let (device, store): (ReplicaID, ByteText) }

  /// Who can have found the conflicts of a held row: the device that pushed it, and the one that
  /// wrote it.
  private func readers(
    of row: HeldRow, _ known: inout [Reader: HubPeer]
  ) throws -> [HubPeer] {
    let store = row.entry.address.store
    return try Set([row.device, row.entry.origin]).map { device in
      let reader = Reader(device: device, store: store)
      if let peer = known[reader] { return peer }
      let peer = try tables.peers(device, [store]).first ?? HubPeer()
      known[reader] = peer
      return peer
    }
  }

  /// Whether one of them has read the present row.
  private func hasRead(
    _ row: HeldRow, _ known: HubAnswer.Row, _ peers: inout [Reader: HubPeer]
  ) throws -> Bool {
    if [row.device, row.entry.origin].contains(known.entry.origin) { return true }
    let acked = try readers(of: row, &peers).map(\.state.acked).max() ?? 0
    return known.seq <= max(row.seq, acked)
  }

  private func isAwaited(
    _ row: HeldRow, _ request: HubRequest, _ peers: inout [Reader: HubPeer]
  ) throws -> Bool {
    if [row.device, row.entry.origin].contains(request.device) { return true }
    let store = row.entry.address.store
    return try readers(of: row, &peers).contains { !isAway([store: $0]) }
  }

  /// Who has these rows may come again after all: every device gives all that it has.
  ///
  /// - Parameter rows: the first one of each origin.
  private func giveUp(_ rows: [ReplicaID: HybridTimestamp]) throws {
    guard !rows.isEmpty else { return }
    for (origin, first) in rows.sorted(by: { $0.key < $1.key }) {
      try tables.cutSeen(of: origin, to: HybridTimestamp(rawValue: first.rawValue - 1))
    }
    try tables.rewindPeers()
  }

  /// The version vector as devices may know it: up to the horizon, and below the first held row of
  /// each replica. A hub that claimed to have seen that would hide its conflicts.
  func seen(of stores: [ByteText]) throws -> [HubRequest.Seen] {
    struct Component: Hashable { let (store, origin): (ByteText, ReplicaID) }
    let waiting = Dictionary(
      try tables.firstHeld(of: stores)
        .map { (Component(store: $0.store, origin: $0.origin), $0.timestamp.rawValue - 1) },
      uniquingKeysWith: min)
    return try tables.seen(of: stores).map { seen in
      let first = waiting[Component(store: seen.store, origin: seen.origin)] ?? .max
      let known = min(seen.timestamp, horizon, HybridTimestamp(rawValue: first))
      return HubRequest.Seen(seen.store, seen.origin, known)
    }
  }

  /// How many rows wait that will come in.
  func waiting() throws -> Int {
    let count = try tables.heldCount
    guard count > 0 else { return 0 }
    let due = try tables.due(upTo: horizon).map(\.entry)
    let present = try tables.rows(at: due.map(\.address))
    return count - due.count { entry in
      present[entry.address].map { !beats(entry, $0.entry) } ?? false
    }
  }
}
