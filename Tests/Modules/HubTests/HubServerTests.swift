// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import HubSupport
  import KeepsakeHub
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues
  import Testing

  @Suite struct HubServerTests {
    private static let device = ReplicaID(rawValue: 0x0f3a)

    private func text(_ request: HubRequest) throws -> String {
      String(decoding: try request.text(), as: UTF8.self)
    }

    private var look: HubRequest { HubRequest(device: Self.device, stores: [ByteText("cloud")]) }

    /// A request that pushes one row to a hub that has none.
    private func push(_ hub: String) throws -> HubRequest {
      let id = ReplicaID(rawValue: try #require(Int64(hub, radix: 16)))
      let stamp = HybridTimestamp(rawValue: 5)
      let row = Entry(
        Address(store: "cloud", key: "theme"),
        TaggedCell(tag: Tag.string.rawValue, cell: .text("dark")), timestamp: stamp,
        origin: Self.device)
      var request = look
      request.expected = HubRequest.Memory(hub: id, peers: [PeerState()])
      request.steps = [
        .push(
          HubRequest.Push(
            token: ExchangeToken(rawValue: 1), through: 1, read: [0], own: EchoRange(),
            rows: [row], seen: []))
      ]
      return request
    }

    @Test func everyErrorIsToldInItsForm() async throws {
      try await RunningHub.with { hub in
        let token = try await hub.create()
        let look = try text(look)
        func expect(_ answer: RunningHub.Answer, _ status: Int, _ code: String) throws {
          #expect(answer.status == status, "\(answer.text)")
          #expect(try answer.member("error") == code)
          #expect(try !answer.member("problem").isEmpty && !answer.member("cure").isEmpty)
        }
        try expect(try await hub.sync(nil, look), 401, "token")
        try expect(try await hub.sync("other", look), 401, "token")
        try expect(try await hub.ask("POST", "/v1/accounts", token, #"{"name":"a"}"#), 401, "token")
        try expect(try await hub.ask("GET", "/v2"), 404, "path")
        try expect(try await hub.ask("PUT", "/v1/sync", token, look), 405, "path")
        try expect(try await hub.ask("POST", "/v1/sync", token, look), 400, "malformed")
        let cutOff = String(look.dropLast())
        for garbage in ["", "\u{0}", "garbage\n", "{}\n", look + "more\n", cutOff] {
          let answer = try await hub.sync(token, garbage)
          try expect(answer, 400, "malformed")
          #expect(try answer.member("line") == "1")
        }
        let later = look.replacing("\"protocol\":1", with: "\"protocol\":2")
        try expect(try await hub.sync(token, later), 426, "protocol")
        let long = String(repeating: "x", count: 1 << 19)
        let padded = look.replacing("\"protocol\":1", with: "\"protocol\":1,\"x\":\"\(long)\"")
        try expect(try await hub.sync(token, padded), 400, "malformed")
        let many = String(repeating: "\n", count: 1_002)
        try expect(try await hub.sync(token, many), 413, "page")
        try expect(try await hub.ask("DELETE", "/v1/account", token), 400, "confirm")
        try expect(try await hub.ask("DELETE", "/v1/devices/9", token), 404, "path")
        try expect(try await hub.ask("GET", "/v1/events?after=x", token), 400, "malformed")
        let wrong = #"{"code":"wrong","name":"a"}"#
        try expect(try await hub.ask("POST", "/v1/devices", nil, wrong), 403, "invitation")
        let stale = try push("0000000000000001")
        try expect(try await hub.sync(token, text(stale)), 409, "moved")
      }
    }

    @Test func whatADatabaseSaysThatIsAwayIsNotToldToDevices() async throws {
      let database = MemoryDatabase()
      try await RunningHub.with(over: database) { hub in
        let token = try await hub.create()
        database.close()
        for path in ["/ready", "/v1/devices"] {
          let answer = try await hub.ask("GET", path, token)
          #expect(answer.status == 503 && answer.retryAfter == "5")
          #expect(try answer.member("error") == "unavailable")
          // "The hub ends" is what this one says; others name hosts and roles.
          #expect(try answer.member("problem") == "the hub's database does not answer now")
        }
      }
    }

    @Test func aLongPollHearsWhatAnotherDevicePushesAndNoOtherAccountSeesIt() async throws {
      try await RunningHub.with { hub in
        let (phone, other) = (try await hub.create(), try await hub.create())
        let laptop = try await hub.join(phone).member("token")
        let id = try await hub.sync(phone, text(look)).member("hub")
        async let heard = hub.ask("GET", "/v1/events?after=0&wait=55", laptop)
        let pushed = try await hub.sync(phone, text(push(id)))
        #expect(pushed.status == 200, "\(pushed.text)")
        #expect(try await heard.text == "{\"seq\":1}\n")
        // It was told, and told again it is refused: nothing is lost, nothing comes twice.
        #expect(try await hub.sync(phone, text(push(id))).status == 409)
        let rows = try await hub.ask("GET", "/v1/export", laptop).text
        #expect(rows.split(separator: "\n").count == 1 && rows.contains("\"key\":\"theme\""))
        #expect(try await hub.ask("GET", "/v1/export", other).text == "")
        let poll = try await hub.ask("GET", "/v1/events?after=0&wait=0", other)
        #expect(poll.text == "{\"seq\":0}\n")
      }
    }

    @Test func aRevokedDeviceIsToldSoAndItsStreamEnds() async throws {
      try await RunningHub.with { hub in
        let phone = try await hub.create()
        let joined = try await hub.join(phone)
        let laptop = try joined.member("token")
        #expect(joined.status == 201)
        let stream = try hub.connect()
        await stream.say(RunningHub.head("GET /v1/events", laptop))
        _ = try await stream.read(until: "data: {\"seq\":0}")
        let path = "/v1/devices/\(try joined.member("device"))"
        #expect(try await hub.ask("DELETE", path, phone).status == 204)
        // The end of an answer without a length.
        _ = try await stream.read(until: "0\r\n\r\n")
        let refused = try await hub.sync(laptop, text(look))
        #expect(refused.status == 403)
        #expect(try refused.member("error") == "revoked" && refused.member("by") == "1")
        #expect(try await hub.ask("GET", "/v1/devices", phone).text.contains("\"revoked\":{"))
      }
    }

    @Test func aRetiredDeviceIsListedSoUntilItComesAgainAndARevokedOneIsRetired() async throws {
      try await RunningHub.with { hub in
        let token = try await hub.create()
        let phone = PushingDevice(hub: hub, token: token)
        func list() async throws -> String { try await hub.ask("GET", "/v1/devices", token).text }
        let joined = try await hub.join(token)
        let number = try joined.member("device")
        let laptop = PushingDevice(
          hub: hub, token: try joined.member("token"), id: ReplicaID(rawValue: 0x1a))
        // Nothing waits for a device that has never come.
        #expect(try await hub.ask("POST", "/v1/devices/\(number)/retire", token).status == 204)
        #expect(try await phone.push(["theme"]).status == 200)
        #expect(try await laptop.push(["size"]).status == 200)
        #expect(try await !list().contains("retired"))
        #expect(try await hub.ask("POST", "/v1/devices/\(number)/retire", token).status == 204)
        let retired = try await list().split(separator: "retired\":true")
        #expect(retired.count == 2 && retired[0].contains("\"name\":\"laptop\""))
        #expect(try await laptop.push(["size"]).status == 200)
        #expect(try await !list().contains("retired"))
        #expect(try await hub.ask("DELETE", "/v1/devices/\(number)", token).status == 204)
        #expect(try await list().contains("\"retired\":true"))
      }
    }

    @Test func aDeviceOfAnotherAccountIsNeitherRevokedNorRetired() async throws {
      try await RunningHub.with { hub in
        let (mine, theirs) = (try await hub.create(), try await hub.create())
        let number = try await hub.ask("GET", "/v1/devices", theirs).member("device")
        for (method, path) in [("DELETE", ""), ("POST", "/retire")] {
          let answer = try await hub.ask(method, "/v1/devices/\(number)\(path)", mine)
          #expect(try answer.status == 404 && answer.member("error") == "path")
        }
        let list = try await hub.ask("GET", "/v1/devices", theirs).text
        #expect(!list.contains("revoked") && !list.contains("retired"))
      }
    }

    @Test func whoAsksTooOftenIsToldWhenToComeAgain() async throws {
      try await RunningHub.with {
        ($0.limits.burst, $0.limits.requestsPerMinute) = (2, 30)
        $0.now = { 0 }
      } _: { hub in
        let (token, other) = (try await hub.create(), try await hub.create())
        for _ in 0..<2 { #expect(try await hub.sync(token, text(look)).status == 200) }
        let answer = try await hub.sync(token, text(look))
        #expect(answer.status == 429 && answer.retryAfter == "2")
        #expect(try await hub.sync(other, text(look)).status == 200)
      }
    }

    @Test func anAccountThatIsDeletedIsGone() async throws {
      try await RunningHub.with { hub in
        let token = try await hub.create()
        #expect(try await hub.ask("DELETE", "/v1/account?confirm=1", token).status == 204)
        #expect(try await hub.sync(token, text(look)).status == 401)
        #expect(try await hub.ask("GET", "/ready").text == "ok\n")
        #expect(try await hub.ask("GET", "/v1").text.contains("\"pageRows\":1000"))
      }
    }
  }
#endif
