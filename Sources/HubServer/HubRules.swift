// SPDX-License-Identifier: Apache-2.0
//
// The rules of a hub. It is a shelf: it keeps the winning row of each key, in the order of
// `(timestamp, origin)`, and what it remembers of each device. It never looks at a value, gives no
// timestamp and changes none, finds no conflict, and answers no deletion: that devices do. So what
// it keeps may be sealed.
//
// Invariants
// - A request is one transaction, and those of an account do not overlap: sequence numbers are in
//   the order of commits, so a reader that goes on from one misses no row.
// - A row is taken only from a device that has read all that the hub has in its stores: so it has
//   decided against each row that is replaced, and noticed each conflict.
// - A deletion goes once it is old, and every device that is waited for has read it.
// - A row from the future waits, with its timestamp, and comes in when it is due. One that others
//   have written meanwhile its device has read before.
// - What a device writes down of the hub, the hub can check: see `PeerState`.

package import KeepsakeSync
import KeepsakeValues

package struct HubRules {
  let tables: any HubTables
  /// Milliseconds since 1970.
  let now: Int64
  /// The last timestamp that is not from the future.
  let horizon: HybridTimestamp
  var account: HubAccount
  var limits: [ReplicaID: HybridTimestamp]
  let bounds: HubLimits

  /// Answers one request, in a transaction that the caller commits if this returns.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: how many milliseconds a timestamp may be ahead of that.
  /// - Throws: `HubRefusal` or `HubFault` when nothing is done; what the tables throw.
  package static func answer(
    _ request: HubRequest, _ tables: any HubTables, at now: Int64, skew: Int64 = 300_000,
    within bounds: HubLimits = HubLimits()
  ) throws -> HubAnswer {
    try checkForm(request, bounds)
    try tables.prefetch(request)
    var rules = HubRules(
      tables: tables, now: now, horizon: Held.horizon(now: now, skew: skew),
      account: try tables.account, limits: try tables.revocations(), bounds: bounds)
    return try rules.answer(request)
  }

  private mutating func answer(_ request: HubRequest) throws -> HubAnswer {
    let (before, hasMet) = (account, try tables.hasPeers)
    // What came in with the last request of a meeting its device would not have read.
    let isLast = request.steps.contains { if case .acknowledge = $0 { true } else { false } }
    if !isLast { try promote(for: request) }
    var (revoked, page, pushed) = (0, HubAnswer.Page?.none, HubAnswer.Pushed?.none)
    if let recalled = request.recalled {
      (page, pushed) = try meet(request, recalled)
    } else {
      try check(request)
    }
    let seq = account.seq
    for step in request.steps where request.recalled == nil {
      switch step {
      case .revoke(let limits): revoked += try revoke(limits)
      case .rename(let id): try rename(id)
      case .rewind: try change(request) { peer, _ in peer.state.cursor = 0 }
      case .offer(let offer): page = try accept(offer, request)
      case .more(let more):
        page = try read(more.offer, after: more.after, through: more.through, request)
      case .push(let push): pushed = try take(push, request)
      case .acknowledge(let cursors):
        try change(request) { peer, place in
          peer.state.acked = max(peer.state.acked, min(cursors[place], seq))
        }
      }
    }
    if request.steps.isEmpty { try noteMet(request) }
    if !request.steps.isEmpty || request.recalled != nil { try collect() }
    if account != before { try tables.save(account) }
    var answer = try outline(request, hasMet: hasMet)
    (answer.revoked, answer.page, answer.pushed) = (revoked, page, pushed)
    return answer
  }

  /// Refuses what another request has overtaken.
  private func check(_ request: HubRequest) throws {
    guard let expected = request.expected else {
      for step in request.steps {
        guard case .revoke = step else { throw HubRefusal.moved }
      }
      return
    }
    let peers = try tables.peers(request.device, request.stores).map(\.state)
    guard expected.hub == account.hub, expected.peers == peers else { throw HubRefusal.moved }
  }

  private func outline(_ request: HubRequest, hasMet: Bool) throws -> HubAnswer {
    let last = try tables.lastOfEachStore()
    let stores = Set(request.stores).union(last.keys).sorted()
    let peers = try tables.peers(request.device, stores)
    let all = zip(stores, peers).map { store, peer in
      (store, HubAnswer.Store(peer: peer.state, last: last[store] ?? 0))
    }
    return HubAnswer(
      hub: account.hub, former: account.former, time: now, seq: account.seq,
      forgotten: account.forgotten, hasMet: hasMet,
      stores: Dictionary(uniqueKeysWithValues: all), revocations: limits,
      waiting: try waiting())
  }

  /// Notes that a device was met, in every store: one that only looks need not name any.
  func noteMet(_ request: HubRequest) throws {
    let stores = try Set(request.stores).union(tables.lastOfEachStore().keys).sorted()
    try change(request.device, stores) { _, _ in }
  }

  /// Changes what is remembered of the device in each store of the request.
  func change(_ request: HubRequest, _ body: (inout HubPeer, Int) -> Void) throws {
    try change(request.device, request.stores, body)
  }

  /// What stays as it was is not written, but once a day that the device was met. What a wrong
  /// clock has dated later was at the latest now.
  private func change(
    _ device: ReplicaID, _ stores: [ByteText], _ body: (inout HubPeer, Int) -> Void
  ) throws {
    let before = try tables.peers(device, stores)
    var peers = before
    for place in peers.indices {
      body(&peers[place], place)
      peers[place].isRetired = false
      let isRecent = (now - 86_400_000...now).contains(peers[place].lastMet)
      if peers[place] != before[place] || peers[place] != HubPeer() && !isRecent {
        peers[place].lastMet = now
      }
    }
    guard peers != before else { return }
    if before.allSatisfy({ $0 == HubPeer() }) { try checkReplicas(with: device) }
    try tables.save(peers, device, stores)
  }

  /// The hub is an older state of itself, so what it remembers of devices is not true of them.
  private mutating func rename(_ id: ReplicaID) throws {
    account.former = (account.former + [account.hub]).suffix(bounds.former)
    account.hub = id
    try tables.clearPeers()
  }

  // MARK: - Being read

  func accept(_ offer: HubRequest.Offer, _ request: HubRequest) throws -> HubAnswer.Page {
    try change(request) { peer, place in
      let theirs = offer.memory[place]
      peer.state.acked = max(peer.state.acked, min(theirs.cursor, account.seq))
      peer.state.theirRead = theirs.readToken
      (peer.state.prior, peer.state.token) = (peer.state.token, offer.token)
    }
    var page = try read(offer, after: 0, through: account.seq, request)
    page.seen = try seen(of: request.stores)
    return page
  }

  private func read(
    _ offer: HubRequest.Offer, after place: Int64, through end: Int64, _ request: HubRequest
  ) throws -> HubAnswer.Page {
    let cursors = zip(request.stores, offer.memory.map(\.cursor))
    let most = HubRequest.PageLimit()
    let limit = HubRequest.PageLimit(
      rows: min(max(offer.page.rows, 1), most.rows),
      bytes: min(max(offer.page.bytes, 1), most.bytes))
    let (rows, hasMore) = try tables.rows(
      after: Dictionary(uniqueKeysWithValues: Array(cursors)), and: place, through: end,
      except: offer.echo, limit)
    return HubAnswer.Page(
      rows: rows, through: hasMore ? rows.last?.seq ?? end : end, hasMore: hasMore, seen: [])
  }
}
