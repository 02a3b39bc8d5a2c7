// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHub
  import KeepsakeSync
  import KeepsakeValues

  /// A device of an account on a hub, which says that it has read whatever is there.
  struct PushingDevice {
    private static let store = ByteText("cloud")

    let hub: RunningHub
    let token: String
    var id = ReplicaID(rawValue: 0x0f3a)

    /// What only looks.
    var look: String {
      get throws { try text(HubRequest(device: id, stores: [Self.store])) }
    }

    private func text(_ request: HubRequest) throws -> String {
      String(decoding: try request.text(), as: UTF8.self)
    }

    /// A message that pushes rows, each of which has this value.
    func message(_ keys: [String], _ value: String = "dark") async throws -> String {
      let looked = try await hub.sync(token, look)
      let answer = try Array(looked.text.utf8).withUnsafeBufferPointer { try HubAnswer($0) }
      let rows = keys.enumerated().map { place, key in
        Entry(
          Address(store: Self.store.string, key: key),
          TaggedCell(tag: Tag.string.rawValue, cell: .text(value)),
          timestamp: HybridTimestamp(rawValue: answer.seq + Int64(place) + 1), origin: id)
      }
      let push = HubRequest.Push(
        token: ExchangeToken(rawValue: answer.seq + 1),
        through: answer.seq + Int64(rows.count), read: [answer.seq], own: EchoRange(),
        rows: rows, seen: nil)
      let peer = answer.stores[Self.store]?.peer ?? PeerState()
      return try text(
        HubRequest(
          device: id, stores: [Self.store],
          expected: HubRequest.Memory(hub: answer.hub, peers: [peer]), steps: [.push(push)]))
    }

    func push(_ keys: [String], _ value: String = "dark") async throws -> RunningHub.Answer {
      try await hub.sync(token, message(keys, value))
    }
  }
#endif
