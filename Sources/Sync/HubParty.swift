// SPDX-License-Identifier: Apache-2.0
//
// A hub as a side of an exchange. The hub keeps rows, and what it remembers of each device; it does
// not merge. It takes rows only from a device that has read all it has, so conflicts are found by
// the device, which reads first.
//
// Each step of an exchange is a request. What the hub said last is what the next step expects, so a
// step that another one has overtaken, or that comes twice, is refused, and the exchange begins
// again. Where the hub stands as the device remembers it, one request does all: `Recollection`.

import KeepsakeDevice
import KeepsakeValues

final class HubParty: Party {
  private let channel: any HubChannel
  /// The other side.
  private let device: Device
  /// Gets smaller where a request is too large for the hub, or for a proxy before it.
  private(set) var limit: HubRequest.PageLimit
  private let largestLimit: HubRequest.PageLimit
  /// What one reading stages, but for the rest of an answer.
  private let staging: HubRequest.PageLimit
  /// What the hub said last, and to whom.
  private var known: (device: ReplicaID, answer: HubAnswer)?
  /// What the last offer gave to be read.
  private(set) var page = HubAnswer.Page()

  init(
    _ channel: any HubChannel, for device: Device, limit: HubRequest.PageLimit,
    staging: HubRequest.PageLimit = HubRequest.PageLimit(rows: 50_000, bytes: 1 << 24)
  ) {
    (self.channel, self.device) = (channel, device)
    (self.limit, largestLimit, self.staging) = (limit, limit, staging)
  }

  var name: String { channel.name }
  /// Rows from the future are held by the hub's clock, which the device does not know.
  var now: Int64 { device.clock.milliseconds }
  var isHub: Bool { true }
  func pause(_ duration: Duration) { channel.pause(duration) }

  // MARK: - Requests

  private func ask(
    _ stores: [ByteText], _ steps: [HubRequest.Step], expecting: HubAnswer?,
    as id: ReplicaID? = nil
  ) throws(KeepsakeError) -> HubAnswer {
    let id = if let id { id } else { try device.replica() }
    var request = HubRequest(device: id, stores: stores, steps: steps)
    if let expecting {
      request.expected = HubRequest.Memory(
        hub: expecting.hub, peers: try stores.map { store throws(KeepsakeError) in
          try state(of: store, in: expecting).peer
        })
    }
    switch try send(request) {
    case .success(let answer): return answer
    case .failure(.behind): throw MergeRetry.unread(name)
    case .failure(.moved): throw MergeRetry.interrupted(name)
    }
  }

  private func send(
    _ request: HubRequest
  ) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal> {
    // Whatever becomes of the request, the next look tells.
    let before = known
    known = nil
    let result: Result<HubAnswer, HubRefusal>
    do throws(KeepsakeError) {
      result = try channel.send(request)
    } catch {
      // One that was too large was not looked at.
      if error.cause is HubPageRefusal { known = before }
      throw error
    }
    guard case .success(let answer) = result else { return result }
    try check(answer, to: request)
    known = (request.device, answer)
    if channel.lastMet != answer.hub { channel.noteMet(answer.hub) }
    return result
  }

  /// The replica ID under which it was met last, if that is known.
  var lastMet: ReplicaID? { channel.lastMet }

  /// Does what it can of an exchange in one request.
  ///
  /// - Returns: nil when the hub does not stand as the request recalls, or takes no such large one,
  ///   and has done nothing.
  func meet(_ request: HubRequest) throws(KeepsakeError) -> HubAnswer? {
    let result: Result<HubAnswer, HubRefusal>
    do throws(KeepsakeError) {
      result = try send(request)
    } catch {
      // Step by step it gets less at a time.
      guard error.cause is HubPageRefusal else { throw error }
      return nil
    }
    guard case .success(let answer) = result else { return nil }
    guard answer.hub == request.recalled?.hub else { throw malformed("is of another hub") }
    page = answer.page == nil ? HubAnswer.Page() : try checked(answer, after: 0)
    return answer
  }

  /// A step that writes, if nothing has come between.
  ///
  /// - Parameter id: of the device, as it was when the step was made; nil for the present one.
  private func take(
    _ step: HubRequest.Step, _ stores: [ByteText], as id: ReplicaID? = nil
  ) throws(KeepsakeError) -> HubAnswer {
    let expected = try look(stores)
    guard id == nil || id == known?.device else { throw MergeRetry.interrupted(device.path) }
    return try ask(stores, [step], expecting: expected, as: id)
  }

  /// What the hub said last; asks it where it has said nothing of these stores to this device.
  private func look(_ stores: [ByteText]) throws(KeepsakeError) -> HubAnswer {
    if let known, try known.device == device.replica(),
      stores.allSatisfy({ known.answer.stores[$0] != nil })
    {
      return known.answer
    }
    return try ask(stores, [], expecting: nil)
  }

  // MARK: - What it says

  func replica() throws(KeepsakeError) -> ReplicaID { try look([]).hub }

  func syncedStores() throws(KeepsakeError) -> Set<ByteText> {
    Set(try look([]).stores.keys.filter { StoreName.isSynced($0.string) })
  }

  func side(
    toward peer: ReplicaID, _ stores: [ByteText]
  ) throws(KeepsakeError) -> PairSnapshot.Side {
    let answer = try look(stores)
    return PairSnapshot.Side(
      replica: answer.hub, lseq: answer.seq, forgotten: answer.forgotten,
      memory: try stores.map { store throws(KeepsakeError) in
        try state(of: store, in: answer).peer
      })
  }

  /// Under which replica IDs it was met before it was restored.
  func former() throws(KeepsakeError) -> [ReplicaID] { try look([]).former }

  /// Milliseconds that its clock is ahead of the device's, as of its last answer.
  func clockAdvance() throws(KeepsakeError) -> Int64 {
    let (advance, isBeyond) = try look([]).time.subtractingReportingOverflow(now)
    return isBeyond ? .max : advance
  }

  func hasMet() throws(KeepsakeError) -> Bool { try look([]).hasMet }

  func hasEntries(of stores: [ByteText], after cursors: [Int64]) throws(KeepsakeError) -> Bool {
    let answer = try look(stores)
    for (store, cursor) in zip(stores, cursors) {
      let last = try state(of: store, in: answer).last
      if last > cursor { return true }
    }
    return false
  }

  func holdsAny() throws(KeepsakeError) -> Bool { try look([]).waiting > 0 }

  func revocations() throws(KeepsakeError) -> [ReplicaID: HybridTimestamp] {
    try look([]).revocations
  }

  // MARK: - What it notes

  func revoke(
    after limits: [ReplicaID: HybridTimestamp], as id: ReplicaID
  ) throws(KeepsakeError) -> (entries: Int, isCopy: Bool) {
    (try ask([], [.revoke(limits)], expecting: nil).revoked, false)
  }

  func rotate(
    to id: ReplicaID, against peer: any Party, known: PairSnapshot.Side?, _ stores: [ByteText],
    if isNeeded: (_ mine: PairSnapshot.Side, _ theirs: PairSnapshot.Side) -> Bool
  ) throws(KeepsakeError) {
    let mine = try side(toward: peer.replica(), stores)
    let theirs = if let known { known } else { try peer.side(toward: mine.replica, stores) }
    guard isNeeded(mine, theirs) else { throw MergeRetry.interrupted(name) }
    let answer = try take(.rename(id), stores)
    guard answer.hub == id else { throw malformed("has not the replica ID that it was given") }
  }

  func rewind(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError) {
    _ = try take(.rewind, stores)
  }

  func acknowledge(
    _ cursors: [(store: ByteText, cursor: Int64)], by peer: ReplicaID
  ) throws(KeepsakeError) {
    let stores = cursors.map(\.store)
    _ = try take(.acknowledge(cursors.map(\.cursor)), stores)
  }

  /// The hub dates each request that names stores and writes.
  func noteMet(_ peer: ReplicaID, _ stores: [ByteText]) {}

  // MARK: - Being read

  func offer(
    _ token: ExchangeToken, to reader: ReplicaID, remembering memory: [PeerState],
    of stores: [ByteText], except echo: EchoRange
  ) throws(KeepsakeError) -> Pull.Offer {
    let offer = HubRequest.Offer(token: token, memory: memory, echo: echo, page: limit)
    var answer = try take(.offer(offer), stores)
    let end = answer.seq
    page = try checked(answer, after: 0)
    while page.hasMore, page.rows.count < staging.rows, page.bytes < staging.bytes {
      let after = page.through
      answer = try take(
        .more(HubRequest.More(offer, after: after, through: end)), stores)
      let next = try checked(answer, after: after)
      page.rows += next.rows
      (page.through, page.hasMore) = (next.through, next.hasMore)
    }
    return Pull.Offer(
      token: token, lseq: page.hasMore ? page.through : end,
      remembered: memory.map(\.readToken))
  }

  func lend(
    to receiver: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    let answer = try look([])
    try receiver.core.withStaged(Staging(answer, page), for: receiver.replica(), body)
  }

  // MARK: - Reading

  func read(_ pull: Pull, _ result: inout Pull.Result) throws(KeepsakeError) {
    // Only a one-way merge makes none, and a hub takes no part in one.
    guard let offer = pull.offer else { throw MergeRetry.interrupted(name) }
    var place = pull.cursors.min() ?? 0
    var (isLast, isOneByOne, withholdsSeen) = (false, false, false)
    // A reading that begins again begins with whole pages.
    defer { if isOneByOne { limit = largestLimit } }
    while !isLast {
      let hub = try look(pull.stores).hub
      var next = try Outgoing(of: pull, offer, after: place, for: hub, limit, from: device)
      if withholdsSeen { next.withholdSeen() }
      let pushed: HubAnswer.Pushed
      do throws(KeepsakeError) {
        pushed = try push(next, of: pull, offer, after: place, result)
        if isOneByOne { (limit, isOneByOne) = (largestLimit, false) }
      } catch {
        guard error.cause is HubPageRefusal, !next.rows.isEmpty else { throw error }
        if next.rows.count > 1 {
          limit.rows = next.rows.count / 2
          continue
        }
        // It may have been the version vector, which then goes alone.
        if next.seen != nil {
          withholdsSeen = true
          continue
        }
        // What is refused alone must not hold up what was written after it. A hub that does not
        // take that either takes nothing.
        next.passOver()
        pushed = try push(next, of: pull, offer, after: place, result)
        (limit.rows, isOneByOne) = (1, true)
      }
      withholdsSeen = false
      result.received += next.rows.count
      result.changed += pushed.changed
      result.held += pushed.held
      result.answered += pushed.answered
      if pushed.after > pushed.before { result.written.append(pushed.before, pushed.after) }
      (place, isLast) = (next.through, next.isLast)
      result.isBehind = isLast && next.seen == nil
    }
  }

  private func push(
    _ next: Outgoing, of pull: Pull, _ offer: Pull.Offer, after place: Int64, _ result: Pull.Result
  ) throws(KeepsakeError) -> HubAnswer.Pushed {
    let hub = try look(pull.stores).hub
    let memory = try FileParty(device: device).side(toward: hub, pull.stores).memory
    try next.noteUnsent(of: pull, after: place, by: hub, on: device)
    let push = HubRequest.Push(
      token: offer.token, through: next.through, read: memory.map(\.cursor),
      own: result.answered == 0 ? result.written : EchoRange(), rows: next.rows, seen: next.seen)
    guard let pushed = try take(.push(push), pull.stores, as: pull.senderID).pushed else {
      throw malformed("does not tell what became of the rows")
    }
    return pushed
  }
}
