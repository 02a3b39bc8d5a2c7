// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeSync
import KeepsakeValues

/// A device that knows an account, and pushes as one does.
package struct Pusher: Sendable {
  static let store = ByteText("cloud")
  package let account: Int64
  let id: ReplicaID
  private var known = HubRequest.Memory(hub: ReplicaID(rawValue: 0), peers: [])
  private var through: Int64 = 0
  private var read: Int64 = 0
  private var own = EchoRange()

  package init(account: Int64, id: Int64) {
    (self.account, self.id) = (account, ReplicaID(rawValue: id))
  }

  /// What it asks first, and where it only wants to know whether there is news.
  package var look: HubRequest { HubRequest(device: id, stores: [Self.store]) }

  /// The next rows.
  package mutating func push(_ keys: some Sequence<Int>, _ value: String) -> HubRequest {
    let rows = keys.map { key in
      through += 1
      return Entry(
        Address(store: Self.store.string, key: "key \(1_000_000 + key)"),
        TaggedCell(tag: Tag.string.rawValue, cell: .text(value)),
        timestamp: HybridTimestamp(rawValue: through), origin: id)
    }
    let push = HubRequest.Push(
      token: ExchangeToken(rawValue: through), through: through, read: [read], own: own,
      rows: rows, seen: [HubRequest.Seen(Self.store, id, HybridTimestamp(rawValue: through))])
    return HubRequest(
      device: id, stores: [Self.store], expected: known, steps: [.push(push)])
  }

  /// The next page of all that the hub has.
  package mutating func page(after place: Int64) -> HubRequest {
    let offer = HubRequest.Offer(
      token: ExchangeToken(rawValue: 1), memory: [PeerState()], echo: EchoRange(),
      page: HubRequest.PageLimit())
    return HubRequest(
      device: id, stores: [Self.store], expected: known,
      steps: [place == 0 ? .offer(offer) : .more(.init(offer, after: place, through: .max))])
  }

  package mutating func heard(_ answer: HubAnswer) {
    known = HubRequest.Memory(
      hub: answer.hub, peers: [answer.stores[Self.store]?.peer ?? PeerState()])
    if let pushed = answer.pushed {
      own = EchoRange(lower: read, upper: pushed.after)
      read = pushed.after
    }
  }
}
