// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeDevice
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeSync
  import KeepsakeValues

  extension HubDatabase {
    /// Pushes rows of new keys as a device that has read everything.
    func push(
      _ count: Int, named name: String, in account: Int64
    ) async throws -> (seq: Int64, keys: [String]) {
      try await onAccount(account) { tables in
        let keys = (0..<count).map { "\(name) \($0)" }
        let known = try tables.account
        let request = HubRequest(
          device: ReplicaID(rawValue: 1), stores: [ByteText("cloud")],
          expected: HubRequest.Memory(
            hub: known.hub,
            peers: try tables.peers(ReplicaID(rawValue: 1), [ByteText("cloud")]).map(\.state)),
          steps: [
            .push(
              HubRequest.Push(
                token: ExchangeToken(rawValue: .random(in: 1 ... .max)), through: known.seq + 1,
                read: [known.seq], own: EchoRange(),
                rows: keys.map { key in
                  Entry(
                    Address(store: "cloud", key: key), TaggedCell(tag: 1, cell: .text(key)),
                    timestamp: HybridTimestamp(rawValue: known.seq + 1),
                    origin: ReplicaID(rawValue: 1))
                }, seen: nil))
          ])
        let answer = try HubRules.answer(request, tables, at: 1_000_000)
        return (answer.seq, keys)
      }
    }

    /// Reads the rows after a sequence number.
    func read(_ account: Int64, after seq: Int64) async throws -> [HubAnswer.Row] {
      try await onAccount(account) { tables in
        try tables.rows(
          after: [ByteText("cloud"): seq], and: 0, through: .max, except: EchoRange(),
          HubRequest.PageLimit()
        ).rows
      }
    }

    func addAccount() async throws -> Int64 {
      try await onDirectory { try $0.addAccount(HubAccount(hub: .random()), at: 0) }
    }
  }
#endif
