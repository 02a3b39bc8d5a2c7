// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// Two devices that read each other's entries: `examine`, then a pull each way, then one that
/// brings the first reader past what the other has just got from it.
struct Meeting {
  let devices: [Device]
  /// Places in `devices`.
  let left: Int
  let right: Int
  let stores: [ByteText]
  /// Arrival numbers under which each side wrote what came from the other, by place.
  private var written: [Int: EchoRange] = [:]
  /// Places that have still to read what the other wrote: an echo of their own, or an answer to it.
  private(set) var waiting: Set<Int> = []
  /// Places that have still to read from the beginning.
  private var readingInFull: Set<Int> = []
  /// Places that had met nobody before this meeting.
  private var newcomers: Set<Int> = []

  init(_ devices: [Device], _ left: Int, _ right: Int, stores: [ByteText]) {
    self.devices = devices
    self.left = left
    self.right = right
    self.stores = stores
  }

  /// One side of a meeting as it is now.
  private struct Side {
    let replica: ReplicaState
    /// The arrival number up to which this side has collected tombstones.
    let collected: Int64
    /// What this side remembers of the other, in the order of `stores`.
    let memory: [PeerState]
  }

  private func other(_ place: Int) -> Int { place == left ? right : left }

  private func side(_ place: Int) throws(KeepsakeError) -> Side {
    let peer = try devices[other(place)].replica()
    return try devices[place].core.read { connection in
      Side(
        replica: try ReplicaState(connection),
        collected: try connection.first("SELECT gc_lseq FROM replica") { $0.integer(0) } ?? 0,
        memory: try stores.map { try connection.peerState(peer, store: $0) })
    }
  }

  /// The places of the devices that need a new identity before these two may meet, other than for
  /// having the same one.
  func examine() throws(KeepsakeError) -> Set<Int> {
    let (a, b) = (try side(left), try side(right))
    if a.replica.id == b.replica.id { return [] }
    var doubtful: Set<Int> = []
    func add(_ doubt: PeerState.Doubt, _ sender: Int) {
      if doubt.contains(.sender) { doubtful.insert(sender) }
      if doubt.contains(.reader) { doubtful.insert(other(sender)) }
    }
    for (mine, theirs) in zip(a.memory, b.memory) {
      add(mine.doubt(reader: theirs, lseq: a.replica.lseq), left)
      add(theirs.doubt(reader: mine, lseq: b.replica.lseq), right)
    }
    return doubtful
  }

  /// Finds who meets another device for the first time.
  mutating func introduce() throws(KeepsakeError) {
    for place in [left, right] {
      let hasMet = try devices[place].core.access { try $0.hasMet() }
      if !hasMet { newcomers.insert(place) }
    }
  }

  /// Finds whether one comes back after so long that it has missed tombstones which the other has
  /// collected. Then both read everything; that is written down, because a meeting that is cut off
  /// after one of them has read could no longer tell.
  mutating func lookBack() throws(KeepsakeError) {
    let (a, b) = (try side(left), try side(right))
    let hasMissed =
      a.memory.contains { $0.cursor < b.collected } || b.memory.contains { $0.cursor < a.collected }
    readingInFull = hasMissed ? [left, right] : []
    for place in readingInFull.sorted() {
      guard try side(place).memory.contains(where: { $0.cursor > 0 }) else { continue }
      let peer = Cell.integer(try devices[other(place)].replica().rawValue)
      try devices[place].core.write { connection in
        for store in stores {
          try connection.run(
            "UPDATE peer SET cursor = 0 WHERE peer = ?1 AND store = ?2",
            [peer, .text(store.string)])
        }
        return ((), [])
      }
    }
  }

  /// Tells each side how far the other has read it, so that tombstones can be collected.
  func acknowledge() throws(KeepsakeError) {
    for place in [left, right] {
      let (mine, theirs) = (try side(place), try side(other(place)))
      let news = zip(stores, zip(mine.memory, theirs.memory))
        .filter { $0.1.0.acked < $0.1.1.cursor }.map { ($0.0, $0.1.1.cursor) }
      guard !news.isEmpty else { continue }
      try devices[place].core.write { connection in
        for (store, cursor) in news {
          try connection.run(
            "UPDATE peer SET acked = ?1 WHERE peer = ?2 AND store = ?3 AND acked < ?1",
            [.integer(cursor), .integer(theirs.replica.id.rawValue), .text(store.string)])
        }
        return ((), [])
      }
    }
  }

  /// Writes down that the two have met, at most once a day: for where nothing is exchanged.
  func note() throws(KeepsakeError) {
    for place in [left, right] {
      let device = devices[place]
      let peer = Cell.integer(try devices[other(place)].replica().rawValue)
      let now = device.clock.milliseconds
      let due = "peer = ?1 AND store = ?2 AND (last_met < ?3 OR retired = 1)"
      for store in stores {
        let arguments = [peer, .text(store.string), .integer(now - 86_400_000)]
        let isDue = try device.core.access { connection in
          try connection.first("SELECT 1 FROM peer WHERE \(due)", arguments) { _ in true } ?? false
        }
        guard isDue else { continue }
        try device.core.write { connection in
          try connection.run(
            "UPDATE peer SET last_met = max(last_met, ?4), retired = 0 WHERE \(due)",
            arguments + [.integer(now)])
          return ((), [])
        }
      }
    }
  }

  /// Whether both have read all there is of each other.
  func isUpToDate() throws(KeepsakeError) -> Bool {
    let (a, b) = (try side(left), try side(right))
    return zip(a.memory, b.memory).allSatisfy { mine, theirs in
      mine.cursor == b.replica.lseq && theirs.cursor == a.replica.lseq
    }
  }

  /// Whether either still has entries of these stores that the other has not read.
  func hasUnread() throws(KeepsakeError) -> Bool {
    for (place, reader) in [(left, try side(right)), (right, try side(left))] {
      for (store, memory) in zip(stores, reader.memory) {
        let unread = try devices[place].core.access { connection in
          try connection.first(
            "SELECT 1 FROM entry INDEXED BY entry_lseq WHERE lseq > ?1 AND store = ?2 LIMIT 1",
            [.integer(memory.cursor), .text(store.string)]
          ) { _ in true }
        }
        if unread == true { return true }
      }
    }
    return false
  }

  /// Whether either has never read the other.
  func isFirst() throws(KeepsakeError) -> Bool {
    for place in [left, right] {
      let memory = try side(place).memory
      if memory.contains(where: { $0.readToken == nil }) { return true }
    }
    return false
  }

  /// Notes that the other side of `place` has got something from elsewhere.
  mutating func expectNews(at place: Int) { waiting.insert(place) }

  /// Lets `reader` read: writes a token on the other side, and takes down how far that side goes.
  private func offer(
    to reader: Int, at now: Int64, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> Pull.Offer {
    let reading = try side(reader)
    let sender = devices[other(reader)]
    let known = try side(other(reader)).memory
    let round =
      zip(known, reading.memory)
      .map { max($0.round, $1.readToken?.round ?? 0) }.max() ?? 0
    let token = MeetingToken(after: round, using: &generator)
    let lseq = try sender.core.write { connection in
      for (store, theirs) in zip(stores, reading.memory) {
        var state = try connection.peerState(reading.replica.id, store: store)
        state.acked = max(state.acked, theirs.cursor)
        state.theirRead = theirs.readToken
        (state.prior, state.token) = (state.token, token)
        try connection.save(state, of: reading.replica.id, store: store, at: now)
      }
      return (try ReplicaState(connection).lseq, [])
    }
    return Pull.Offer(token: token, lseq: lseq)
  }

  /// Reads everything new from the other side into `place`.
  mutating func pull(
    into place: Int, at now: Int64, options: MergeOptions, changeLimit: Int,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> Pull.Result {
    let offer = try offer(to: place, at: now, using: &generator)
    return try pull(
      into: place, at: now, options: options, changeLimit: changeLimit, offer: offer, trusted: true)
  }

  /// - Parameters:
  ///   - offer: nil for a one-way pull, which leaves no trace of who was met.
  ///   - trusted: whether the cursors may be believed; else everything is read.
  mutating func pull(
    into place: Int, at now: Int64, options: MergeOptions, changeLimit: Int, offer: Pull.Offer?,
    trusted: Bool
  ) throws(KeepsakeError) -> Pull.Result {
    let memory = try side(place).memory
    let pull = Pull(
      sender: devices[other(place)], receiver: devices[place], direction: (other(place), place),
      senderID: try devices[other(place)].replica(), stores: stores,
      cursors: memory.map { trusted && !readingInFull.contains(place) ? $0.cursor : 0 },
      offer: offer,
      echo: written[other(place)] ?? EchoRange(), now: now, options: options,
      reason: newcomers.contains(place) ? .firstMerge : .merge)
    let result = try pull.run(changeLimit: changeLimit)
    readingInFull.remove(place)
    waiting.remove(place)
    if result.received > 0 { waiting.insert(other(place)) }
    // An answer is no echo: the other side has to read it.
    written[place] = result.answered == 0 ? result.written : EchoRange()
    return result
  }
}
