// SPDX-License-Identifier: Apache-2.0
//
// A meeting that begins without a look: the device says what it remembers, and the hub answers as
// if it had been asked step by step, in one transaction.
//
// A request that comes again, or after another one, does nothing here either: each one that writes
// rows or a cursor gives a new token to read under, which no older recollection has.

import KeepsakeSync
import KeepsakeValues

extension HubRules {
  mutating func meet(
    _ request: HubRequest, _ recalled: HubRequest.Recollection
  ) throws -> (page: HubAnswer.Page?, pushed: HubAnswer.Pushed?) {
    try check(recalled, request)
    let isRead = try hasRead(recalled, request)
    var (page, pushed) = (HubAnswer.Page?.none, HubAnswer.Pushed?.none)
    for step in request.steps {
      switch step {
      case .push(let push): if isRead { pushed = try take(push, request) }
      case .offer(var offer):
        guard !isRead || pushed != nil else { continue }
        // Rows that beat what was pushed are no echo: the device has to read them.
        if let pushed, pushed.answered == 0 {
          offer.echo = EchoRange(lower: pushed.before, upper: pushed.after)
        }
        page = try accept(offer, request)
      case .revoke, .rename, .rewind, .more, .acknowledge: throw HubRefusal.moved
      }
    }
    // Of a meeting without news this is all that is written, once.
    if page == nil { try acknowledge(recalled, request) }
    return (page, pushed)
  }

  /// Refuses what the longer way has to settle.
  private func check(_ recalled: HubRequest.Recollection, _ request: HubRequest) throws {
    let peers = try tables.peers(request.device, request.stores).map(\.state)
    let fits = zip(recalled.peers, peers).allSatisfy { mine, hubs in
      mine.fits(hubs) && (account.forgotten...account.seq).contains(mine.cursor)
    }
    guard recalled.hub == account.hub, recalled.revocations == limits, fits else {
      throw HubRefusal.moved
    }
  }

  private func hasRead(
    _ recalled: HubRequest.Recollection, _ request: HubRequest
  ) throws -> Bool {
    let cursors = zip(request.stores, recalled.peers.map(\.cursor))
    let unread = try tables.rows(
      after: Dictionary(uniqueKeysWithValues: Array(cursors)), and: 0, through: account.seq,
      except: EchoRange(), HubRequest.PageLimit(rows: 1))
    return unread.rows.isEmpty
  }

  private func acknowledge(
    _ recalled: HubRequest.Recollection, _ request: HubRequest
  ) throws {
    let peers = try tables.peers(request.device, request.stores).map(\.state)
    let isNews = zip(recalled.peers, peers).contains { $0.cursor > $1.acked }
    guard isNews else { return try noteMet(request) }
    try change(request) { peer, place in
      peer.state.acked = max(peer.state.acked, recalled.peers[place].cursor)
    }
  }
}
