// SPDX-License-Identifier: Apache-2.0

import KeepsakeSync
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
  /// Only as long as there are no copies, and no writes from the future.
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
  /// Only as long as there are no copies, and no writes from the future: of what waited it is not
  /// known whether it was seen.
  func compareConflicts(_ met: Met, _ logged: Set<Loss>) throws {
    guard isPlain, met.encounter.places.count == 2 else { return }
    let (a, b) = (met.start[met.encounter.places[0]], met.start[met.encounter.places[1]])
    var possible: Set<Loss> = []
    for address in Set(a.shown.keys).union(b.shown.keys) where met.travels(address) {
      guard let left = a.shown[address] ?? a.graves[address],
        let right = b.shown[address] ?? b.graves[address], left.content != right.content
      else { continue }
      let (loser, mind) = wins(left, over: right) ? (right, a) : (left, b)
      let loss = Loss(loser)
      let isNoted = logged.contains(loss)
      if !mind.known.contains(loser) { possible.insert(loss) }
      guard isNoted ? possible.contains(loss) : mind.perhapsKnown.contains(loser) else {
        throw Divergence(
          description: "\(show(loser)) at \(name(address)) lost, and is \(isNoted ? "" : "not ")"
            + "in the conflict log")
      }
    }
    guard logged.isSubset(of: possible) else {
      throw Divergence(description: "the conflict log has what did not lose")
    }
  }
}
