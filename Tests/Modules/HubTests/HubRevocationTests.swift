// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import KeepsakeHub
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues
  import Testing

  /// A device that is revoked while it asks.
  @Suite struct HubRevocationTests {
    private let database = InterruptedDatabase()

    private func with(
      _ body: (_ hub: RunningHub, _ phone: String, _ laptop: String) async throws -> Void
    ) async throws {
      try await RunningHub.with(over: database) { hub in
        let phone = try await hub.create()
        try await body(hub, phone, try await hub.join(phone).member("token"))
      }
    }

    /// The phone revokes the laptop as soon as the next request has shown whose it is.
    private func revokeMeanwhile() {
      database.afterNext { directory in
        let members = try directory.members(of: 1)
        try HubAccounts(directory, at: 0).revoke(members[1].number, by: members[0])
      }
    }

    private func look() throws -> String {
      let request = HubRequest(device: ReplicaID(rawValue: 7), stores: [ByteText("cloud")])
      return String(decoding: try request.text(), as: UTF8.self)
    }

    @Test func aRequestThatWasBegunBeforeDoesNothingAndItsDeviceStaysRevoked() async throws {
      try await with { hub, phone, laptop in
        revokeMeanwhile()
        for _ in 0..<2 {
          let answer = try await hub.sync(laptop, look())
          #expect(answer.status == 403)
          #expect(try answer.member("error") == "revoked")
        }
        #expect(database.accountWork == 0)
        #expect(try await hub.ask("GET", "/v1/devices", phone).text.contains("\"revoked\":{"))
      }
    }

    @Test func aStreamThatWasBegunBeforeEnds() async throws {
      try await with { hub, _, laptop in
        revokeMeanwhile()
        let answer = try await hub.ask("GET", "/v1/events?after=0&wait=0", laptop)
        #expect(answer.status == 403)
      }
    }

    @Test(arguments: ["POST /v1/invitations", "DELETE /v1/devices/1"])
    func whatWasAskedBeforeGivesNobodyARight(request: String) async throws {
      try await with { hub, phone, laptop in
        revokeMeanwhile()
        let words = request.split(separator: " ").map(String.init)
        #expect(try await hub.ask(words[0], words[1], laptop).status == 403)
        let answer = try await hub.sync(phone, look())
        #expect(answer.status == 200)
      }
    }

    @Test func anExportThatWasBegunBeforeIsCutOff() async throws {
      try await with { hub, phone, laptop in
        try await fill()
        #expect(try await hub.ask("GET", "/v1/export", phone).text.contains("\"key\":\"2\""))
        let before = database.accountWork
        revokeMeanwhile()
        await #expect(throws: URLError.self) { try await hub.ask("GET", "/v1/export", laptop) }
        #expect(database.accountWork == before + 1)
      }
    }

    /// Three rows, each of which is a page.
    private func fill() async throws {
      try await database.onAccount(1) { tables in
        let value = Cell.text(String(repeating: "v", count: 1 << 20))
        try tables.put(
          (1...3).map { seq in
            HubAnswer.Row(
              Entry(
                Address(store: "cloud", key: "\(seq - 1)"), TaggedCell(tag: 1, cell: value),
                timestamp: HybridTimestamp(rawValue: seq), origin: ReplicaID(rawValue: 7)),
              seq: seq)
          })
        var account = try tables.account
        account.seq = 3
        try tables.save(account)
      }
    }
  }
#endif
