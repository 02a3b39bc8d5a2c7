// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// Two devices that read each other's entries, step by step: `examine`, `offer`, two pulls,
/// `finish`.
struct Meeting {
  let devices: [Device]
  /// Places in `devices`.
  let left: Int
  let right: Int
  let stores: [String]
  private var token: MeetingToken?
  /// What each side wrote into itself from the other, by place.
  private var written: [Int: EchoRange] = [:]
  /// How far each side has read the other, by the reader's place.
  private var reached: [Int: Int64] = [:]

  init(_ devices: [Device], _ left: Int, _ right: Int, stores: [String]) {
    self.devices = devices
    self.left = left
    self.right = right
    self.stores = stores
  }

  /// One side of a meeting as it is now.
  private struct Side {
    let replica: ReplicaState
    /// What this side remembers of the other, by store.
    let memory: [String: PeerState]
  }

  private func other(_ place: Int) -> Int { place == left ? right : left }

  private func side(_ place: Int, _ peer: ReplicaID) throws(KeepsakeError) -> Side {
    try devices[place].core.read { connection in
      let memory = try stores.map { ($0, try connection.peerState(peer, store: $0)) }
      return Side(
        replica: try ReplicaState(connection),
        memory: Dictionary(uniqueKeysWithValues: memory))
    }
  }

  private func sides() throws(KeepsakeError) -> (left: Side, right: Side) {
    let leftID = try devices[left].replica()
    let rightID = try devices[right].replica()
    return (try side(left, rightID), try side(right, leftID))
  }

  /// The places of the devices that need a new identity before these two may meet, other than for
  /// having the same one.
  func examine() throws(KeepsakeError) -> Set<Int> {
    let (a, b) = try sides()
    if a.replica.id == b.replica.id { return [] }
    var doubtful: Set<Int> = []
    for store in stores {
      guard let mine = a.memory[store], let theirs = b.memory[store] else { continue }
      let doubt = mine.doubt(theirs, lseq: a.replica.lseq, theirLseq: b.replica.lseq)
      if doubt.contains(.mine) { doubtful.insert(left) }
      if doubt.contains(.theirs) { doubtful.insert(right) }
    }
    return doubtful
  }

  /// Whether both have read all there is of each other.
  func isUpToDate() throws(KeepsakeError) -> Bool {
    let (a, b) = try sides()
    return stores.allSatisfy {
      a.memory[$0]?.cursor == b.replica.lseq && b.memory[$0]?.cursor == a.replica.lseq
    }
  }

  /// Whether either still has entries of these stores that the other has not read.
  func hasUnread() throws(KeepsakeError) -> Bool {
    let (a, b) = try sides()
    for (place, reader) in [(left, b), (right, a)] {
      for store in stores {
        let cursor = reader.memory[store]?.cursor ?? 0
        let unread = try devices[place].core.access { connection in
          try connection.first(
            "SELECT 1 FROM entry INDEXED BY entry_lseq WHERE lseq > ?1 AND store = ?2 LIMIT 1",
            [.integer(cursor), .text(store)]
          ) { _ in true }
        }
        if unread == true { return true }
      }
    }
    return false
  }

  /// Whether either has never read the other.
  func isFirst() throws(KeepsakeError) -> Bool {
    let (a, b) = try sides()
    return stores.contains {
      a.memory[$0]?.readToken == nil || b.memory[$0]?.readToken == nil
    }
  }

  /// Writes the token of this meeting on both sides, before anything is read.
  mutating func offer(
    at now: Int64, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let (a, b) = try sides()
    let round = (Array(a.memory.values) + Array(b.memory.values)).map(\.round).max() ?? 0
    let token = MeetingToken(after: round, using: &generator)
    try offer(token, on: left, about: b.replica.id, reading: b.memory, at: now)
    try offer(token, on: right, about: a.replica.id, reading: a.memory, at: now)
    self.token = token
  }

  private func offer(
    _ token: MeetingToken, on place: Int, about peer: ReplicaID,
    reading theirs: [String: PeerState],
    at now: Int64
  ) throws(KeepsakeError) {
    try devices[place].core.write { connection in
      for store in stores {
        var state = try connection.peerState(peer, store: store)
        state.theirRead = theirs[store]?.readToken
        state.token = token
        try connection.save(state, of: peer, store: store, at: now)
      }
      return ((), [])
    }
  }

  /// Reads everything new from the other side into `place`.
  ///
  /// - Parameter trusted: whether the cursors may be believed; else everything is read.
  mutating func pull(
    into place: Int, at now: Int64, options: MergeOptions, changeLimit: Int, trusted: Bool = true
  ) throws(KeepsakeError) -> Pull.Result {
    let senderID = try devices[other(place)].replica()
    let memory = try side(place, senderID).memory
    let pull = Pull(
      sender: devices[other(place)], receiver: devices[place], senderID: senderID,
      cursors: memory.mapValues { trusted ? $0.cursor : 0 }, token: token,
      echo: written[other(place)] ?? EchoRange(), now: now, options: options)
    let result = try pull.run(changeLimit: changeLimit)
    written[place] = result.written
    reached[place] = result.reached
    return result
  }

  /// Moves each side's cursor past what the other one has only just got from it, and tells each
  /// side how far it has been read.
  func finish(at now: Int64) throws(KeepsakeError) {
    for place in [left, right] {
      let peer = try devices[other(place)].replica()
      try devices[place].core.write { connection in
        for store in stores {
          var state = try connection.peerState(peer, store: store)
          state.cursor = past(written[other(place)], from: state.cursor)
          state.acked = past(written[place], from: reached[other(place)] ?? state.acked)
          try connection.save(state, of: peer, store: store, at: now)
        }
        return ((), [])
      }
    }
  }

  private func past(_ echo: EchoRange?, from cursor: Int64) -> Int64 {
    guard let echo, echo.lower == cursor else { return cursor }
    return echo.upper
  }
}
