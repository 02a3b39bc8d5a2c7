// SPDX-License-Identifier: Apache-2.0
//
// Which rows come in, and which of two rows of a key stays.

import KeepsakeSync
import KeepsakeValues

extension HubRules {
  /// Where a row stands among those of its key, by what still counts of its timestamp.
  struct Rank: Comparable {
    let timestamp: HybridTimestamp
    let origin: ReplicaID

    static func < (a: Rank, b: Rank) -> Bool {
      a.timestamp == b.timestamp ? a.origin < b.origin : a.timestamp < b.timestamp
    }
  }

  func rank(_ entry: Entry) -> Rank {
    Rank(
      timestamp: min(entry.timestamp, limits[entry.origin] ?? entry.timestamp),
      origin: entry.origin)
  }

  /// Gives a row the next sequence number.
  mutating func number(_ entry: Entry) -> HubAnswer.Row {
    account.seq += 1
    return HubAnswer.Row(entry, seq: account.seq)
  }

  // MARK: - Pushed rows

  mutating func take(_ push: HubRequest.Push, _ request: HubRequest) throws -> HubAnswer.Pushed {
    try refuseUnread(push, request)
    try checkRows(push.rows, request)
    let before = account
    var pushed = HubAnswer.Pushed(before: account.seq, after: account.seq)
    var present = try tables.rows(at: push.rows.map(\.address))
    let read = Dictionary(uniqueKeysWithValues: Array(zip(request.stores, push.read)))
    var (changed, held): ([Address: HubAnswer.Row], [Entry]) = ([:], [])
    for entry in push.rows {
      guard let cursor = read[entry.address.store] else { continue }
      let known = present[entry.address]
      if entry == known?.entry { continue }
      // A device that gives all it has gives deletions that were forgotten here, a million of them.
      if known == nil, isOldDeletion(entry) { continue }
      if let known, rank(entry) < rank(known.entry) {
        // The device has read what beats this, and has lost it since: it has to read it again.
        guard known.seq <= cursor else { continue }
        changed[entry.address] = number(known.entry)
        pushed.answered += 1
      } else if rank(entry).timestamp > horizon {
        held.append(entry)
        continue
      } else {
        changed[entry.address] = number(entry)
        pushed.changed += 1
        count(entry, 1)
        if let known { count(known.entry, -1) }
      }
      present[entry.address] = changed[entry.address]
    }
    try checkStores(with: changed.values.map(\.entry) + held)
    try countHeld(held)
    try checkRoom(since: before)
    try tables.put(changed.values.sorted { $0.seq < $1.seq })
    try tables.hold(held.map { HeldRow($0, by: request.device, after: before.seq) })
    pushed.held = held.count
    pushed.after = account.seq
    try change(request) { peer, place in
      peer.state.cursor = max(push.through, peer.state.cursor)
      peer.state.readToken = push.token
    }
    if let seen = push.seen { try tables.raise(fitting(seen)) }
    return pushed
  }

  /// Refuses a device that has not read every row of its stores: it would replace rows that it does
  /// not know, and no device would find the conflict.
  private func refuseUnread(_ push: HubRequest.Push, _ request: HubRequest) throws {
    let cursors = Dictionary(uniqueKeysWithValues: Array(zip(request.stores, push.read)))
    let unread = try tables.rows(
      after: cursors, and: 0, through: account.seq, except: push.own,
      HubRequest.PageLimit(rows: 1))
    guard unread.rows.isEmpty else { throw HubRefusal.behind }
  }

  // MARK: - What is taken back

  /// Takes down up to where timestamps stand. Rows stay as they were written, and count from now on
  /// as made at the limit.
  ///
  /// - Returns: how many origins had rows that count otherwise now.
  mutating func revoke(_ news: [ReplicaID: HybridTimestamp]) throws -> Int {
    var count = 0
    for (origin, limit) in news.sorted(by: { $0.key < $1.key }) {
      let isNew = limits[origin].map { limit < $0 } ?? true
      guard isNew, (HybridTimestamp.zero...horizon).contains(limit) else { continue }
      limits[origin] = limit
      try checkRevocations()
      try tables.revoke(origin, after: limit)
      let late = try tables.due(upTo: HybridTimestamp(rawValue: .max))
        .map(\.entry).filter { $0.origin == origin && $0.timestamp > limit }
      for entry in late { self.count(entry, -1) }
      try tables.dropHeld(late)
      try tables.cutSeen(of: origin, to: limit)
      if try tables.hasRows(of: origin, after: limit) { count += 1 }
    }
    // They may have replaced what now is the later write: all devices give all they have again.
    if count > 0 { try tables.rewindPeers() }
    return count
  }
}
