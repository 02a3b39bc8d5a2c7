// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// The order of writes, written down a second time and in other words than the engine's.
func wins(_ a: Entry, over b: Entry) -> Bool {
  func rank(_ entry: Entry) -> [Int64] {
    [entry.timestamp.rawValue, entry.origin.rawValue, entry.content.tag]
  }
  if rank(a) != rank(b) { return rank(b).lexicographicallyPrecedes(rank(a)) }
  switch (a.content.cell, b.content.cell) {
  case (.text(let a), .text(let b)): return Array(b.utf8).lexicographicallyPrecedes(Array(a.utf8))
  case (.blob(let a), .blob(let b)): return Array(b).lexicographicallyPrecedes(Array(a))
  case (.integer(let a), .integer(let b)): return a > b
  case (.real(let a), .real(let b)): return a > b
  default: return false
  }
}

/// What a device ought to hold.
struct Mind {
  /// The last write of each key.
  private(set) var shown: [Address: Entry] = [:]
  /// Collected deletions, which count on.
  private(set) var graves: [Address: Entry] = [:]
  /// Deletions that are gone without a grave, as those of a hub go.
  private(set) var forgotten: Set<Entry> = []
  /// What is from the future, by its clock.
  var waiting: Set<Entry> = []
  /// The largest timestamp that it has ever shown.
  private(set) var newest = HybridTimestamp.zero
  /// Every write that it, or whoever told it, has surely had; those that lost long ago too.
  var known: Set<Entry> = []
  /// The same with what exchanges that were cut short may have brought.
  var perhapsKnown: Set<Entry> = []
  /// Whom its tombstones wait for, by store.
  var met: [ByteText: Set<Int>] = [:]

  /// What waits, and will win; of copies with one timestamp the largest.
  var promising: Set<Entry> {
    waiting.filter { entry in
      let rivals = waiting.filter {
        $0.address == entry.address && $0.timestamp == entry.timestamp && $0.origin == entry.origin
      }
      return !rivals.contains { wins($0, over: entry) }
        && (shown[entry.address].map { wins(entry, over: $0) } ?? true)
    }
  }

  /// The stores of which it knows anything.
  var stores: Set<ByteText> {
    Set(shown.keys.map(\.store)).union(graves.keys.map(\.store))
      .union(waiting.map(\.address.store))
  }

  mutating func show(_ entry: Entry?, at address: Address) {
    shown[address] = entry
  }

  /// Notes the largest timestamp of what it shows indeed.
  mutating func look(at facts: Facts, after old: HybridTimestamp) {
    newest = facts.shown.values.map(\.timestamp).reduce(old, max)
  }

  /// Whether it counts here.
  func takes(_ entry: Entry) -> Bool {
    (shown[entry.address] ?? graves[entry.address]).map { wins(entry, over: $0) } ?? true
  }

  mutating func join(_ entry: Entry) {
    if takes(entry) { show(entry, at: entry.address) }
  }

  mutating func bury(_ tombstone: Entry) {
    show(nil, at: tombstone.address)
    if let old = graves[tombstone.address], wins(old, over: tombstone) { return }
    graves[tombstone.address] = tombstone
  }

  mutating func forget(_ tombstone: Entry) {
    show(nil, at: tombstone.address)
    forgotten.insert(tombstone)
  }

  /// Whether a hub need not keep it.
  static func isOldDeletion(_ entry: Entry, at time: Int64) -> Bool {
    entry.content.isTombstone && entry.timestamp.milliseconds < time - 90 * 86_400_000
  }

  mutating func learn(_ entry: Entry) {
    known.insert(entry)
    perhapsKnown.insert(entry)
  }

  /// The last timestamp that is not from the future.
  static func horizon(_ time: Int64) -> HybridTimestamp {
    HybridTimestamp(rawValue: HybridTimestamp(milliseconds: time + 300_001).rawValue - 1)
  }

  /// Lets in what is due.
  ///
  /// - Parameter hub: what a hub has afterwards, if this is one's: what meets another write waits
  ///   until its device has read that, or is given up.
  /// - Returns: what a hub has given up, and what has lost there.
  @discardableResult
  mutating func promote(
    at time: Int64, asOf hub: Facts? = nil
  ) -> (left: Set<Entry>, lost: Set<Entry>) {
    var due = waiting.filter { $0.timestamp <= Self.horizon(time) }
    var (left, lost): (Set<Entry>, Set<Entry>) = ([], [])
    if let hub {
      let rivals = due.union(shown.values)
      let met = due.filter { entry in
        rivals.contains { $0 != entry && $0.address == entry.address }
      }
      due.subtract(met.filter(hub.withholds))
      lost = met.intersection(due).filter { hub.shown[$0.address] != $0 }
      left = lost.filter { entry in
        takes(entry) && (hub.shown[entry.address].map { wins(entry, over: $0) } ?? true)
      }
      due.subtract(left)
      lost.subtract(left)
    }
    waiting.subtract(due.union(left))
    for entry in due { join(entry) }
    for entry in due { learn(entry) }
    return (left, lost)
  }

  /// Of what a hub knows, what it tells that it has seen: nothing from the future, and nothing as
  /// late as what waits.
  func tells(_ entry: Entry, at time: Int64) -> Bool {
    entry.timestamp <= Self.horizon(time)
      && !waiting.contains {
        $0.address.store == entry.address.store && $0.origin == entry.origin
          && $0.timestamp <= entry.timestamp
      }
  }

  /// Reads all that another one shows, and what it knows to be deleted of what is shown here,
  /// unless it has written that since. A hub, which tells it on, reads all that is known to be
  /// deleted, but for what it need not keep.
  ///
  /// - Parameters:
  ///   - hub: what a hub has afterwards, if this is one's.
  ///   - isTold: whether the other one tells that it has seen something that it knows.
  mutating func read(
    _ other: Mind, _ travels: (Address) -> Bool, at time: Int64, asOf hub: Facts? = nil,
    isTold: (Entry) -> Bool = { _ in true }
  ) {
    let isHub = hub != nil
    let graves = other.graves.filter {
      (isHub || shown[$0.key] != nil) && other.shown[$0.key] == nil
    }
    for (address, entry) in Array(graves) + Array(other.shown) where travels(address) {
      guard takes(entry) else { continue }
      if isHub, shown[address] == nil, Self.isOldDeletion(entry, at: time) {
        forgotten.insert(entry)
        continue
      }
      let isDue = entry.timestamp <= Self.horizon(time)
      let waits = shown[address] != nil && hub?.withholds(entry) == true
      if isDue, !waits { join(entry) } else { waiting.insert(entry) }
    }
    known.formUnion(
      other.known.filter { entry in
        travels(entry.address) && (isHub || isTold(entry) && !waiting.contains(entry))
      })
    perhapsKnown.formUnion(other.perhapsKnown.filter { travels($0.address) })
  }
}
