// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubFile
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// That a request costs what it asks for, claimed of every statement that it runs.
@Suite struct HubQueryPlanTests {
  private static let device = ReplicaID(rawValue: 7)
  private static let stores = ["cloud", "cloud:a", "cloud:b"].map(ByteText.init)

  /// What SQLite does for one request to an account of so many rows in three stores.
  private func trace(
    _ count: Int, _ steps: [HubRequest.Step]
  ) async throws -> (statements: Set<String>, pages: Int, plans: [String]) {
    let folder = try HubFolder()
    let file = try folder.open()
    for number in 1...3 {
      let account = try await file.addAccount(Int64(number))
      try await file.onAccount(account) { tables in
        var account = try tables.account
        account.seq = Int64(count)
        try tables.save(account)
        try tables.put(
          (1...count).map { Self.row($0, store: Self.stores[$0 % 3].string) })
        try tables.save([HubPeer(), HubPeer(), HubPeer()], Self.device, Self.stores)
      }
    }
    return try await file.onAccount(2) { tables in
      let connection = try #require(tables.fileConnection)
      let look = HubRequest(device: Self.device, stores: Self.stores)
      let trace = try StatementTrace.of(connection) {
        let answer = try HubRules.answer(look, tables, at: 1_000)
        guard !steps.isEmpty else { return }
        var request = HubRequest(device: Self.device, stores: Self.stores, steps: steps)
        request.expected = .init(
          hub: answer.hub, peers: Self.stores.map { answer.stores[$0]?.peer ?? PeerState() })
        _ = try HubRules.answer(request, tables, at: 1_000)
      }
      let plans = try trace.statements.flatMap { sql in
        try connection.all("EXPLAIN QUERY PLAN " + sql) { "\($0.text(3)): \(sql)" }
      }
      return (trace.statements, trace.pages, plans)
    }
  }

  private static func row(_ seq: Int, store: String) -> HubAnswer.Row {
    HubAnswer.Row(
      Entry(
        Address(store: store, key: "key \(1_000_000 + seq)"),
        TaggedCell(tag: 1, cell: .text("value \(seq)")),
        timestamp: HybridTimestamp(rawValue: Int64(seq)), origin: ReplicaID(rawValue: 5)),
      seq: Int64(seq))
  }

  /// A look; a page; a push of ten; a revocation; each over `count` rows.
  private static func steps(_ name: String, _ count: Int) -> [HubRequest.Step] {
    switch name {
    case "page":
      [
        .offer(
          HubRequest.Offer(
            token: ExchangeToken(rawValue: 1), memory: [PeerState(), PeerState(), PeerState()],
            echo: EchoRange(lower: 5, upper: Int64(count - 5)), page: .init(rows: 10)))
      ]
    case "push":
      [
        .push(
          HubRequest.Push(
            token: ExchangeToken(rawValue: 1), through: 10, read: [0, 0, 0],
            own: EchoRange(lower: 0, upper: Int64(count)),
            rows: (1...10).map { number in
              var entry = row(number * count / 10, store: "cloud").entry
              entry.timestamp = HybridTimestamp(rawValue: 1 << 20)
              return entry
            }, seen: [HubRequest.Seen(stores[0], device, HybridTimestamp(rawValue: 1 << 20))]))
      ]
    case "revocation":
      [.revoke([ReplicaID(rawValue: 5): HybridTimestamp(rawValue: Int64(count - 5))])]
    default: []
    }
  }

  @Test(arguments: ["look", "page", "push", "revocation"])
  func noStatementOfARequestScans(name: String) async throws {
    let trace = try await trace(300, Self.steps(name, 300))
    #expect(trace.statements.count > 5)
    for plan in trace.plans {
      #expect(!plan.hasPrefix("SCAN") && !plan.contains("TEMP B-TREE"), "\(plan)")
    }
  }

  /// What no test of ours can cut: the power.
  @Test func eachCommitWaitsForTheDisk() async throws {
    let folder = try HubFolder()
    let file = try folder.open()
    let account = try await file.addAccount()
    let synchronous = try await file.onAccount(account) { tables in
      try #require(tables.fileConnection)
        .first("PRAGMA synchronous") { $0.integer(0) }
    }
    #expect(synchronous == 2)
  }

  @Test(arguments: ["look", "page", "push", "revocation"])
  func thePagesThatARequestLooksAtDoNotGrowWithTheRows(name: String) async throws {
    var pages: [Int] = []
    for count in [1_000, 20_000] {
      pages.append(try await trace(count, Self.steps(name, count)).pages)
    }
    // A tree of more rows has a level more.
    #expect(pages[1] < pages[0] * 2, "\(pages)")
  }
}
