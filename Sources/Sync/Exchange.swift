// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// Two devices that read each other's entries: `introduce` and `lookBack`, then a pull each way,
/// then one that brings the first reader past what the other has just got from it.
struct Exchange {
  let devices: [Device]
  /// Places in `devices`.
  let left: Int
  let right: Int
  let stores: [ByteText]
  /// Local sequence numbers under which each side wrote what came from the other, by place.
  private var written: [Int: EchoRange] = [:]
  /// Places that have still to read what the other wrote: an echo of their own, or an answer to it.
  private(set) var waiting: Set<Int> = []
  /// Places that have still to read from the beginning.
  private var readingInFull: Set<Int> = []
  /// Places that had no peer before this exchange.
  private var newcomers: Set<Int> = []

  init(_ devices: [Device], _ left: Int, _ right: Int, stores: [ByteText]) {
    self.devices = devices
    self.left = left
    self.right = right
    self.stores = stores
  }

  func other(_ place: Int) -> Int { place == left ? right : left }

  func side(_ place: Int) throws(KeepsakeError) -> PairSnapshot.Side {
    let peer = try devices[other(place)].replica()
    return try devices[place].core.read { try PairSnapshot.Side($0, of: peer, stores) }
  }

  /// Both sides, one after the other.
  func snapshot() throws(KeepsakeError) -> PairSnapshot {
    PairSnapshot(left: try side(left), right: try side(right))
  }

  /// The places of the devices that need a new identity before these two may meet.
  func doubtful(_ pair: PairSnapshot) -> Set<Int> {
    let doubt = pair.doubt
    return Set((doubt.contains(.left) ? [left] : []) + (doubt.contains(.right) ? [right] : []))
  }

  /// Finds who meets another device for the first time.
  mutating func introduce() throws(KeepsakeError) {
    for place in [left, right] {
      let hasMet = try devices[place].core.access { try $0.hasMet() }
      if !hasMet { newcomers.insert(place) }
    }
  }

  /// Finds whether one comes back after so long that it has missed deletions which the other has
  /// forgotten. Then both read everything; that is written down, because an exchange that is cut
  /// off after one of them has read could no longer tell.
  mutating func lookBack() throws(KeepsakeError) {
    readingInFull = try snapshot().hasMissed ? [left, right] : []
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

  /// Notes on each side how far the other has read it, so that tombstones can be collected.
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
            [.integer(cursor), .integer(theirs.replica.rawValue), .text(store.string)])
        }
        return ((), [])
      }
    }
  }

  /// Writes down that the two have met, at most once a day: for where nothing is exchanged. What a
  /// wrong clock has dated later, of whichever peer, was at the latest now.
  func note() throws(KeepsakeError) {
    for place in [left, right] {
      let device = devices[place]
      let peer = Cell.integer(try devices[other(place)].replica().rawValue)
      let now = device.clock.milliseconds
      let due = """
        (last_met > ?4 OR (peer = ?1 AND store = ?2 AND (last_met < ?3 OR retired = 1)))
        """
      for store in stores {
        let arguments = [
          peer, .text(store.string), .integer(now - 86_400_000), .integer(now),
        ]
        let isDue = try device.core.access { connection in
          try connection.first("SELECT 1 FROM peer WHERE \(due)", arguments) { _ in true } ?? false
        }
        guard isDue else { continue }
        try device.core.write { connection in
          try connection.run(
            "UPDATE peer SET last_met = ?4, retired = iif(peer = ?1, 0, retired) WHERE \(due)",
            arguments)
          return ((), [])
        }
      }
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

  /// Notes that the other side of `place` has got something from elsewhere.
  mutating func expectNews(at place: Int) { waiting.insert(place) }

  /// Lets `reader` read: writes a token on the other side, and takes down how far that side goes.
  private func offer(
    to reader: Int, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> Pull.Offer {
    let reading = try side(reader)
    let sender = devices[other(reader)]
    let known = try side(other(reader)).memory
    let round =
      zip(known, reading.memory)
      .map { max($0.round, $1.readToken?.round ?? 0) }.max() ?? 0
    let token = ExchangeToken(after: round, using: &generator)
    let lseq = try sender.core.write { connection in
      for (store, theirs) in zip(stores, reading.memory) {
        var state = try connection.peerState(reading.replica, store: store)
        state.acked = max(state.acked, theirs.cursor)
        state.theirRead = theirs.readToken
        (state.prior, state.token) = (state.token, token)
        try connection.save(
          state, of: reading.replica, store: store, at: sender.clock.milliseconds)
      }
      return (try ReplicaState(connection).lseq, [])
    }
    return Pull.Offer(token: token, lseq: lseq)
  }

  /// Reads everything new from the other side into `place`.
  ///
  /// - Parameters:
  ///   - needsReader: whether the other side has to have read everything of this one before.
  ///   - result: gets what was committed, also when this throws.
  mutating func pull(
    into place: Int, at now: Int64, options: MergeOptions, needsReader: Bool,
    _ result: inout Pull.Result, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let offer = try offer(to: place, using: &generator)
    try pull(
      into: place, at: now, options: options, offer: offer, trusted: true, needsReader: needsReader,
      &result)
  }

  /// - Parameters:
  ///   - offer: nil for a one-way pull, which leaves no trace of who was met.
  ///   - trusted: whether the cursors may be believed; else everything is read.
  mutating func pull(
    into place: Int, at now: Int64, options: MergeOptions, offer: Pull.Offer?, trusted: Bool,
    needsReader: Bool = false, _ result: inout Pull.Result
  ) throws(KeepsakeError) {
    let memory = try side(place).memory
    let pull = Pull(
      sender: devices[other(place)], receiver: devices[place], direction: (other(place), place),
      senderID: try devices[other(place)].replica(), stores: stores,
      cursors: memory.map { trusted && !readingInFull.contains(place) ? $0.cursor : 0 },
      offer: offer,
      echo: written[other(place)] ?? EchoRange(), now: now, options: options,
      reason: newcomers.contains(place) ? .firstMerge : .merge, needsReader: needsReader)
    defer {
      if result.received > 0 { waiting.insert(other(place)) }
      // An answer is no echo: the other side has to read it.
      written[place] = result.answered == 0 ? result.written : EchoRange()
    }
    try pull.run(&result)
    readingInFull.remove(place)
    waiting.remove(place)
    if result.isBehind { waiting.insert(place) }
  }
}
