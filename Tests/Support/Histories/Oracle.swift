// SPDX-License-Identifier: Apache-2.0
//
// What devices ought to hold, said without cursors, tokens or SQL. A device is what it shows, and
// what it keeps waiting; an exchange lets one read all that the other shows; the last write counts.
//
// It is sure of every entry, tombstones and timestamps included, after every exchange that was not
// cut short. One that was cut short leaves something between before and after, of each key. A
// deletion that was collected counts on, without being shown: nothing else deletes anything, and
// nothing but a write that beats it comes back.

import KeepsakeValues

struct Divergence: Error, CustomStringConvertible {
  let description: String
}

struct Oracle {
  var minds: [Mind]
  /// Every write ever made, with what its writer may have known.
  private(set) var writes: [Entry: Set<Entry>] = [:]
  /// Deletions that were collected somewhere.
  var buried: Set<Entry> = []
  /// By the hub's clock, when its exchange with a device ended.
  var lastMet: [Int: Int64] = [:]
  private(set) var hasCopied = false
  /// Whether a device had to wait for the time of an entry.
  var hasHeld = false
  /// Whether the hub no longer waits for a device.
  private(set) var hasRetired = false
  static let day: Int64 = 86_400_000

  /// Whether the first place is a hub's.
  let hasHub: Bool

  init(count: Int, hasHub: Bool) {
    self.hasHub = hasHub
    minds = Array(repeating: Mind(), count: count)
  }

  var isPlain: Bool { !hasCopied && !hasHeld }

  // MARK: - One device

  mutating func wrote(
    _ place: Int, _ address: Address, _ value: StoredValue?, _ facts: Facts, at time: Int64,
    isDuringExchange: Bool = false
  ) throws {
    let found = facts.shown[address]
    let content = try TaggedCell(value)
    guard found?.content ?? .tombstone == content else {
      throw Divergence(description: "device \(place) wrote \(content), and has \(show(found))")
    }
    let newest = minds[place].newest
    let due = max(
      HybridTimestamp(milliseconds: time), HybridTimestamp(rawValue: newest.rawValue + 1))
    let old = minds[place].shown[address]
    minds[place].show(found, at: address)
    guard StoreName.isSynced(address.store.string), let entry = found else {
      // There an equal write is none, and a deletion leaves nothing but its timestamp, of which an
      // exchange that is under way may have brought larger ones.
      let isNone = old?.content ?? .tombstone == content
      minds[place].look(
        at: facts,
        after: isNone ? newest : isDuringExchange ? max(due, facts.clock) : due)
      return
    }
    let isOnTime = isDuringExchange ? entry.timestamp >= due : entry.timestamp == due
    guard entry.origin == facts.id, isOnTime else {
      throw Divergence(
        description: "device \(place), \(facts.id), wrote \(show(entry)), not at \(due)")
    }
    minds[place].look(at: facts, after: newest)
    // In the middle of an exchange it may know what any of the others does.
    writes[entry] = (isDuringExchange ? minds : [minds[place]]).reduce(into: []) { known, mind in
      known.formUnion(mind.perhapsKnown.filter { $0.address == address })
    }
    minds[place].learn(entry)
  }

  /// A file was put in place of a device's.
  mutating func replaced(_ place: Int, by mind: Mind) {
    hasCopied = true
    minds[place] = mind
  }

  mutating func retired(_ place: Int, _ other: Int) {
    hasRetired = hasRetired || hasHub && place == 0
    for store in minds[place].met.keys { minds[place].met[store]?.remove(other) }
  }

  mutating func compacted(
    _ place: Int, _ before: Facts, _ after: Facts, at time: Int64
  ) throws {
    let mind = minds[place]
    for address in Set(before.shown.keys).union(after.shown.keys) {
      let (old, new) = (before.shown[address], after.shown[address])
      guard old != new else { continue }
      guard let old, new == nil, old.content.isTombstone,
        old.timestamp.milliseconds <= time - 90 * Self.day
      else {
        throw Divergence(
          description:
            "device \(place) collected \(show(old)) of \(name(address)), and has \(show(new))")
      }
      try checkCollected(old, by: place, mind.met[address.store] ?? [])
      minds[place].bury(old)
      buried.insert(old)
    }
  }

  private func checkCollected(_ tombstone: Entry, by place: Int, _ peers: Set<Int>) throws {
    for peer in peers where !hasCopied && !hasHad(tombstone, minds[peer]) {
      throw Divergence(
        description: "device \(place) collected \(show(tombstone)) of "
          + "\(name(tombstone.address)), unknown to \(peer)")
    }
  }

  /// Lets the hub forget the deletions that it has indeed no more.
  ///
  /// - Parameters:
  ///   - before: what it had when the exchange began.
  ///   - isCut: whether what was to come may not have come.
  ///   - isUnread: which went before anybody could read them.
  mutating func forget(
    _ before: Mind, _ facts: Facts, at time: Int64, isCut: Bool = false,
    where isUnread: (Entry) -> Bool = { _ in true }
  ) throws {
    buried.formUnion(minds[0].forgotten)
    for (address, old) in minds[0].shown where isUnread(old) {
      let found = facts.shown[address]
      guard found.map({ wins(old, over: $0) }) ?? true else { continue }
      if isCut, found == before.shown[address] { continue }
      if !before.forgotten.contains(old) {
        guard Mind.isOldDeletion(old, at: time) else { continue }
        // Whom it has met a while ago by a clock that jumps it may count as away.
        let peers = (before.met[address.store] ?? []).filter {
          lastMet[$0].map { abs(time - $0) < 179 * Self.day } ?? false
        }
        try checkCollected(old, by: 0, peers)
      }
      minds[0].forget(old)
      buried.insert(old)
    }
  }

  private func hasHad(_ entry: Entry, _ mind: Mind) -> Bool {
    mind.perhapsKnown.contains(entry)
      || mind.shown[entry.address].map { $0 == entry || wins($0, over: entry) } ?? false
  }
}

func show(_ entry: Entry?) -> String {
  entry.map {
    $0.content.isTombstone
      ? "deletion \($0.timestamp) by \($0.origin)"
      : "\($0.content.cell) \($0.timestamp) by \($0.origin)"
  } ?? "nothing"
}

func name(_ address: Address) -> String {
  escaped("\(address.store)/\(address.key)")
}
