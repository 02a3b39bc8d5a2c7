// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeDevice
import KeepsakeHubFile
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues
import Synchronization

/// A device that knows an account, and pushes as one does.
struct Pusher: Sendable {
  static let store = ByteText("cloud")
  let account: Int64
  let id: ReplicaID
  private var known = HubRequest.Memory(hub: ReplicaID(rawValue: 0), peers: [])
  private var through: Int64 = 0
  private var read: Int64 = 0
  private var own = EchoRange()

  init(account: Int64, id: Int64) { (self.account, self.id) = (account, ReplicaID(rawValue: id)) }

  /// What it asks first, and where it only wants to know whether there is news.
  var look: HubRequest { HubRequest(device: id, stores: [Self.store]) }

  /// The next rows.
  mutating func push(_ keys: some Sequence<Int>, _ value: String) -> HubRequest {
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
  mutating func page(after place: Int64) -> HubRequest {
    let offer = HubRequest.Offer(
      token: ExchangeToken(rawValue: 1), memory: [PeerState()], echo: EchoRange(),
      page: HubRequest.PageLimit())
    return HubRequest(
      device: id, stores: [Self.store], expected: known,
      steps: [place == 0 ? .offer(offer) : .more(.init(offer, after: place, through: .max))])
  }

  mutating func heard(_ answer: HubAnswer) {
    known = HubRequest.Memory(
      hub: answer.hub, peers: [answer.stores[Self.store]?.peer ?? PeerState()])
    if let pushed = answer.pushed {
      own = EchoRange(lower: read, upper: pushed.after)
      read = pushed.after
    }
  }
}

extension HubFile {
  /// Milliseconds since 1970 by the hub's clock in all of this.
  private static let now: Int64 = 1_000_000_000

  func ask(
    _ account: Int64, _ request: HubRequest,
    _ done: @escaping @Sendable (Result<HubAnswer, any Error>) -> Void
  ) {
    submit(on: account, { try HubRules.answer(request, $0, at: Self.now) }, done)
  }

  func ask(_ account: Int64, _ request: HubRequest) throws -> HubAnswer {
    try wait { self.ask(account, request, $0) }
  }

  func addAccounts(_ count: Int) throws {
    try wait { done in
      submit(
        { directory in
          for number in 1...count {
            let account = HubAccount(hub: ReplicaID(rawValue: Int64(number)))
            _ = try directory.addAccount(account, at: 0)
          }
        }, done)
    }
  }

  func wait<Value: Sendable>(
    _ submit: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) throws -> Value {
    let (end, box) = (DispatchSemaphore(value: 0), Box<Value>())
    submit { result in
      box.result.withLock { $0 = result }
      end.signal()
    }
    end.wait()
    guard let result = box.result.withLock(\.self) else { throw Failure("there is no result") }
    return try result.get()
  }
}

private final class Box<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>?>(nil)
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
