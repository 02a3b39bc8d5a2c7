// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

/// Two parties that read each other's entries: `introduce` and `lookBack`, then a pull each way,
/// then one that brings the first reader past what the other has just got from it.
package struct Exchange {
  let parties: [any Party]
  /// Places in `parties`.
  let left: Int
  let right: Int
  let stores: [ByteText]
  /// What was found when files were checked, by place.
  var measurements: [Int: Measurement] = [:]
  /// Local sequence numbers under which each side wrote what came from the other, by place.
  private var written: [Int: EchoRange] = [:]
  /// Places that have still to read what the other wrote: an echo of their own, or an answer to it.
  private(set) var waiting: Set<Int> = []
  /// Places that have still to read from the beginning.
  private var readingInFull: Set<Int> = []
  /// Places that had no peer before this exchange.
  private var newcomers: Set<Int> = []

  package init(_ parties: [any Party], _ left: Int, _ right: Int, stores: [ByteText]) {
    self.parties = parties
    self.left = left
    self.right = right
    self.stores = stores
  }

  func other(_ place: Int) -> Int { place == left ? right : left }

  func side(_ place: Int) throws(KeepsakeError) -> PairSnapshot.Side {
    try parties[place].side(toward: parties[other(place)].replica(), stores)
  }

  /// Both sides, one after the other.
  package func snapshot() throws(KeepsakeError) -> PairSnapshot {
    PairSnapshot(left: try side(left), right: try side(right))
  }

  /// The places of those that need a new replica ID before these two may exchange anything.
  package func doubtful(_ pair: PairSnapshot) -> Set<Int> {
    let doubt = parties[right].isHub ? pair.doubtWithHub : pair.doubt
    return Set((doubt.contains(.left) ? [left] : []) + (doubt.contains(.right) ? [right] : []))
  }

  /// Gives the party at `place` a new replica ID, if it still needs one.
  ///
  /// - Parameters:
  ///   - pair: where that was found.
  ///   - isOtherNew: whether the other side has got a new one since.
  /// - Throws: `KeepsakeError`, also when it needs none any more.
  package func rotate(
    _ place: Int, to id: ReplicaID, after pair: PairSnapshot, isOtherNew: Bool
  ) throws(KeepsakeError) {
    let known = place == left ? pair.right : pair.left
    try parties[place].rotate(
      to: id, against: parties[other(place)], known: isOtherNew ? known : nil, stores
    ) { mine, theirs in
      let now =
        place == left
        ? PairSnapshot(left: mine, right: theirs) : PairSnapshot(left: theirs, right: mine)
      return doubtful(now).contains(place)
    }
  }

  /// Finds who meets another device for the first time.
  package mutating func introduce() throws(KeepsakeError) {
    for place in [left, right] {
      let hasMet = try parties[place].hasMet()
      if !hasMet { newcomers.insert(place) }
    }
  }

  /// Finds whether one comes back after so long that it has missed deletions which the other has
  /// forgotten. Then both read everything; that is written down, because an exchange that is cut
  /// off after one of them has read could no longer tell.
  package mutating func lookBack() throws(KeepsakeError) {
    readingInFull = try snapshot().hasMissed ? [left, right] : []
    for place in readingInFull.sorted() {
      guard try side(place).memory.contains(where: { $0.cursor > 0 }) else { continue }
      try parties[place].rewind(parties[other(place)].replica(), stores)
    }
  }

  /// Notes on each side how far the other has read it.
  package func acknowledge() throws(KeepsakeError) {
    for place in [left, right] {
      let (mine, theirs) = (try side(place), try side(other(place)))
      let news = zip(stores, zip(mine.memory, theirs.memory))
        .filter { $0.1.0.acked < $0.1.1.cursor }.map { (store: $0.0, cursor: $0.1.1.cursor) }
      guard !news.isEmpty else { continue }
      try parties[place].acknowledge(news, by: theirs.replica)
    }
  }

  /// Notes on each side that the two have met.
  package func note() throws(KeepsakeError) {
    for place in [left, right] {
      try parties[place].noteMet(parties[other(place)].replica(), stores)
    }
  }

  /// Whether either still has entries of these stores that the other has not read.
  package func hasUnread() throws(KeepsakeError) -> Bool {
    for (place, reader) in [(left, try side(right)), (right, try side(left))] {
      let hasUnread = try parties[place].hasEntries(of: stores, after: reader.memory.map(\.cursor))
      if hasUnread { return true }
    }
    return false
  }

  /// Notes that the other side of `place` has got something from elsewhere.
  mutating func expectNews(at place: Int) { waiting.insert(place) }

  /// Lets `reader` read: the other side notes a token, and takes down how far it goes.
  private func offer(
    to reader: Int, using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) -> Pull.Offer {
    let reading = try side(reader)
    let known = try side(other(reader)).memory
    let round =
      zip(known, reading.memory)
      .map { max($0.round, $1.readToken?.round ?? 0) }.max() ?? 0
    return try parties[other(reader)].offer(
      ExchangeToken(after: round, using: &generator), to: reading.replica,
      remembering: reading.memory, of: stores, except: written[other(reader)] ?? EchoRange())
  }

  /// Reads everything new from the other side into `place`.
  ///
  /// - Parameters:
  ///   - needsReader: whether the other side has to have read everything of this one before.
  ///   - result: gets what was committed, also when this throws.
  package mutating func pull(
    into place: Int, options: MergeOptions, needsReader: Bool, _ result: inout Pull.Result,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let offer = try offer(to: place, using: &generator)
    try pull(
      into: place, options: options, offer: offer, trusted: true, needsReader: needsReader,
      &result)
  }

  /// - Parameters:
  ///   - offer: nil for a one-way pull, which leaves no trace of who was met.
  ///   - trusted: whether the cursors may be believed; else everything is read.
  mutating func pull(
    into place: Int, options: MergeOptions, offer: Pull.Offer?, trusted: Bool,
    needsReader: Bool = false, _ result: inout Pull.Result
  ) throws(KeepsakeError) {
    let (sender, receiver) = (parties[other(place)], parties[place])
    let memory = try side(place).memory
    let pull = Pull(
      sender: sender, direction: (other(place), place), senderID: try sender.replica(),
      stores: stores,
      cursors: memory.map { trusted && !readingInFull.contains(place) ? $0.cursor : 0 },
      measurement: measurements[other(place)], offer: offer,
      echo: written[other(place)] ?? EchoRange(), now: receiver.now,
      options: options, reason: newcomers.contains(place) ? .firstMerge : .merge,
      needsReader: needsReader)
    defer {
      if result.received > 0 { waiting.insert(other(place)) }
      // An answer is no echo: the other side has to read it.
      written[place] = result.answered == 0 ? result.written : EchoRange()
    }
    try receiver.read(pull, &result)
    readingInFull.remove(place)
    waiting.remove(place)
    if result.isBehind { waiting.insert(place) }
  }
}
