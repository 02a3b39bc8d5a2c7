// SPDX-License-Identifier: Apache-2.0
//
// New replica IDs for files that have one past. Whether two files have is found by reading both, at
// two read versions; a merge by a version that knows no lease may come between, and would look like
// a copy. So both are read again in the transaction that gives the ID: while it is under way no
// token can be written there, and a token is written there before anything is read under it.

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// Looks again after each new replica ID: two copies of a third file are found one by one.
  mutating func rotateCopies(among places: some Sequence<Int>) throws(KeepsakeError) {
    let places = Set(places)
    var rotated: Set<Int> = []
    // Each of them is found once, and once more when another one is.
    var patience = 2 * parties.count
    // Who remembers what is not true: a party with a new replica ID remembers nothing.
    var suspect = parties.count - 1
    repeat {
      rotated = []
      patience -= 1
      guard patience >= 0 else {
        throw KeepsakeError(
          .corrupt, path: parties[suspect].name,
          "what it remembers of the others is true of none of their replica IDs",
          cure: "do not trust it; restore a backup of it, or ask who runs the hub")
      }
      var pairs: [(Exchange, PairSnapshot)] = []
      for exchange in try exchanges + sharersOfIdentity() {
        pairs.append((exchange, try exchange.snapshot()))
      }
      for (exchange, pair) in pairs {
        for place in exchange.doubtful(pair).intersection(places).subtracting(rotated).sorted() {
          try exchange.rotate(
            place, to: .random(using: &generator), after: pair,
            isOtherNew: rotated.contains(exchange.other(place)))
          rotated.insert(place)
          suspect = exchange.other(place)
          report.events.append(.cloneDetected(device: place))
        }
      }
    } while !rotated.isEmpty
  }

  /// Pairs that exchange nothing and have one replica ID.
  private func sharersOfIdentity() throws(KeepsakeError) -> [Exchange] {
    var first: [ReplicaID: Int] = [:]
    var pairs: [Exchange] = []
    for place in exchanges.filter({ $0.left == 0 }).map(\.right) {
      let id = try parties[place].replica()
      if let other = first[id] { pairs.append(Exchange(parties, other, place, stores: stores)) }
      first[id] = first[id] ?? place
    }
    return pairs
  }
}
