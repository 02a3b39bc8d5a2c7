// SPDX-License-Identifier: Apache-2.0
//
// Rows from the future. One that is due may meet what others have written of its key meanwhile. Its
// device has to read that first: nobody else can tell whether that is a conflict, and log it. Until
// then the row goes on waiting, whether it is to come in or has lost, and what is there stays.

import KeepsakeSync
import KeepsakeValues

extension HubRules {
  /// Applies the held rows that are due.
  mutating func promote(for request: HubRequest) throws {
    let due = try tables.due(upTo: horizon)
    guard !due.isEmpty else { return }
    let before = try tables.rows(at: due.map(\.entry.address))
    var (present, changed, gone) = (before, [Address: HubAnswer.Row](), [Entry]())
    // Of several that may come in the last one does.
    for row in due.reversed() {
      let (entry, known) = (row.entry, present[row.entry.address])
      if let known, entry != known.entry, try !hasRead(row, known) {
        guard try !isAwaited(row.device, request) else { continue }
        gone.append(entry)
        try giveUp(entry)
        continue
      }
      gone.append(entry)
      guard known.map({ beats(entry, $0.entry) }) ?? true else { continue }
      changed[entry.address] = number(entry)
      present[entry.address] = changed[entry.address]
    }
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

  /// Whether the device of a held row has read the present one.
  private func hasRead(_ row: HeldRow, _ known: HubAnswer.Row) throws -> Bool {
    let (entry, store) = (row.entry, row.entry.address.store)
    if [row.device, entry.origin].contains(known.entry.origin) { return true }
    let acked = try tables.peers(row.device, [store]).map(\.state.acked).max() ?? 0
    return known.seq <= max(row.seq, acked)
  }

  private func isAwaited(_ device: ReplicaID, _ request: HubRequest) throws -> Bool {
    try device == request.device || !isAway(tables.allPeers()[device] ?? [:])
  }

  /// Who has the row may come again after all: every device gives all that it has.
  private func giveUp(_ entry: Entry) throws {
    let before = HybridTimestamp(rawValue: entry.timestamp.rawValue - 1)
    try tables.cutSeen(of: entry.origin, to: before)
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
