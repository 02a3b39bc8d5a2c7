// SPDX-License-Identifier: Apache-2.0
//
// New identities for files that have one past. Whether two files have is found by reading both, at
// two versions; a merge by a version that knows no lease may come between, and would look like a
// copy. So both are read again in the transaction that gives the identity: while it is under way no
// token can be written there, and a token is written there before anything is read under it.

import KeepsakeDevice
import KeepsakeValues

extension Exchange {
  /// Gives the device at `place` a new identity, if it still needs one.
  ///
  /// - Parameters:
  ///   - pair: where that was found.
  ///   - isOtherNew: whether the other side has got a new identity since.
  /// - Throws: `KeepsakeError`, also when it needs none any more.
  func rotate(
    _ place: Int, to id: ReplicaID, after pair: PairSnapshot, isOtherNew: Bool
  ) throws(KeepsakeError) {
    let known = place == left ? pair.right : pair.left
    let core = devices[place].core
    try core.withSender(devices[other(place)].core) { () throws(KeepsakeError) in
      try core.write { connection in
        var replica = try ReplicaState(connection)
        let peer =
          try isOtherNew
          ? known.replica
          : connection.first("SELECT id FROM sender.replica") { ReplicaID(rawValue: $0.integer(0)) }
            ?? known.replica
        let mine = try PairSnapshot.Side(connection, of: peer, stores)
        let theirs =
          isOtherNew
          ? known : try PairSnapshot.Side(connection, in: "sender", of: replica.id, stores)
        let now =
          place == left
          ? PairSnapshot(left: mine, right: theirs) : PairSnapshot(left: theirs, right: mine)
        guard doubtful(now).contains(place) else {
          throw MergeRetry.interrupted(devices[place].path)
        }
        try connection.rotate(&replica, to: id)
        return ((), [])
      }
    }
  }
}

extension MergeRun {
  /// Looks again after each new identity: two copies of a third file are found one by one.
  mutating func rotateCopies(among places: some Sequence<Int>) throws(KeepsakeError) {
    let places = Set(places)
    var rotated: Set<Int> = []
    repeat {
      rotated = []
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
          report.events.append(.cloneDetected(device: place))
        }
      }
    } while !rotated.isEmpty
  }

  /// Pairs that do not meet and have one identity.
  private func sharersOfIdentity() throws(KeepsakeError) -> [Exchange] {
    var first: [ReplicaID: Exchange] = [:]
    var pairs: [Exchange] = []
    for exchange in exchanges where exchange.left == 0 {
      let id = try exchange.devices[exchange.right].replica()
      if let other = first[id] {
        pairs.append(Exchange(exchange.devices, other.right, exchange.right, stores: exchange.stores))
      }
      first[id] = first[id] ?? exchange
    }
    return pairs
  }
}
