// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension Oracle {
  /// Which write lost.
  struct Loss: Hashable {
    let address: Address
    let timestamp: HybridTimestamp
    let origin: ReplicaID

    init(_ conflict: Conflict) {
      address = Address(store: conflict.store, key: conflict.key)
      (timestamp, origin) = (conflict.lostTimestamp, conflict.lostOrigin)
    }

    init(_ entry: Entry) {
      (address, timestamp, origin) = (entry.address, entry.timestamp, entry.origin)
    }
  }

  /// All devices have settled: each write that was lost, and that nobody who wrote that key later
  /// can have known, is in some conflict log. But for deletions that were collected: they are told
  /// only to who has what they deleted.
  ///
  /// Only as long as there are no copies, and no device had to let a write from the future wait.
  func compareLosses(_ logged: Set<Loss>) throws {
    guard isPlain else { return }
    for (address, writes) in Dictionary(grouping: writes.keys, by: \.address) {
      guard let last = writes.max(by: { wins($1, over: $0) }) else { continue }
      for write in writes where write != last && !buried.contains(write) {
        // Two writes of the same content are no conflict.
        let isDecided = writes.contains { other in
          self.writes[other]?.contains(write) == true
            || other != write && other.content == write.content
        }
        guard isDecided || logged.contains(Loss(write)) else {
          throw Divergence(
            description: "\(show(write)) at \(name(address)) was lost, and nobody has noticed")
        }
      }
    }
  }

  /// Two devices have met: a write that lost is logged iff whoever had the winner had not known
  /// it, so that nobody has decided against it.
  ///
  /// Only as long as there are no copies, and no device had to let a write from the future wait: of
  /// that it is not known whether it was seen. What waits at a hub may come in as the device comes,
  /// or once it has read what is there.
  func compareConflicts(_ met: Met, _ logged: Set<Loss>) throws {
    guard isPlain, met.encounter.places.count == 2 else { return }
    let (a, b) = (met.start[met.encounter.places[0]], met.start[met.encounter.places[1]])
    var others = [b]
    if hasHub, let hub = met.facts[0] {
      others[0].known = b.known.filter { b.tells($0, at: met.clocks[0]) }
      var later = b
      later.promote(at: met.clocks[0], asOf: hub)
      later.known = later.known.filter { b.tells($0, at: met.clocks[0]) }
      if later.shown != b.shown { others.append(later) }
    }
    var possible: Set<Loss> = []
    let addresses = Set(a.shown.keys).union(others.flatMap(\.shown.keys))
    for address in addresses where met.travels(address) {
      let pairs = others.map { losing(address, a, $0) }
      for case (let loser, let mind)? in pairs where !mind.known.contains(loser) {
        possible.insert(Loss(loser))
      }
      let isMissing = pairs.allSatisfy { pair in
        guard let (loser, mind) = pair else { return false }
        return !logged.contains(Loss(loser)) && !mind.perhapsKnown.contains(loser)
      }
      guard !isMissing else {
        let loser = show(pairs[0]?.loser)
        throw Divergence(
          description: "\(loser) at \(name(address)) lost, and is not in the conflict log")
      }
    }
    let excess = logged.subtracting(possible)
    guard excess.isEmpty else {
      let losses = excess.map { "\(name($0.address)) \($0.timestamp) by \($0.origin)" }
      throw Divergence(description: "the conflict log has what did not lose: \(losses)")
    }
  }

  /// The entry that loses to what the other one shows, and who has that.
  private func losing(_ address: Address, _ a: Mind, _ b: Mind) -> (loser: Entry, mind: Mind)? {
    guard let left = a.shown[address] ?? a.graves[address],
      let right = b.shown[address] ?? b.graves[address], left.content != right.content
    else { return nil }
    return wins(left, over: right) ? (right, a) : (left, b)
  }
}
