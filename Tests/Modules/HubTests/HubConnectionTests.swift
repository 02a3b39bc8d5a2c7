// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Testing

  /// What a hub does with connections that keep to no manners.
  @Suite struct HubConnectionTests {
    private let chunked = ["Transfer-Encoding: chunked", "Content-Type: application/jsonl"]

    @Test func aBodyThatDoesNotComeIsWaitedForNoLongerThanThirtySeconds() async throws {
      let time = ManualTime()
      try await RunningHub.with {
        $0.sleep = { try await time.sleep($0) }
      } _: { hub in
        let token = try await hub.create()
        let raw = try hub.connect()
        await raw.say(
          RunningHub.head(
            "POST /v1/sync", token, "Content-Type: application/jsonl", "Content-Length: 10") + "a")
        await time.pass(.seconds(30))
        let answer = try await raw.answer()
        #expect(answer.status == 400 && answer.text.contains("within 30 seconds"))
        #expect(answer.head.contains("connection: close"))
      }
    }

    @Test func aBodyThatIsCutOffIsNoRequest() async throws {
      try await RunningHub.with { hub in
        let token = try await hub.create()
        let raw = try hub.connect()
        await raw.say(
          RunningHub.head(
            "POST /v1/sync", token, "Content-Type: application/jsonl", "Content-Length: 10") + "a")
        raw.endSending()
        // Refused, or closed without a word; never served.
        let text = try await raw.read()
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 400 "), "\(text)")
      }
    }

    @Test func aBodyWithoutEndIsRefusedAndItsConnectionCloses() async throws {
      try await RunningHub.with { hub in
        let token = try await hub.create()
        let raw = try hub.connect()
        await raw.say(
          RunningHub.head("POST /v1/sync", token, chunked[0], chunked[1]))
        let chunk = "100000\r\n" + String(repeating: "x", count: 1 << 20) + "\r\n"
        var count = 0
        while await raw.say(chunk) {
          count += 1
          try #require(count < 256, "the hub reads on without end")
        }
      }
    }

    @Test func anAnnouncedBodyThatIsTooLargeIsRefusedBeforeItComes() async throws {
      try await RunningHub.with {
        $0.limits.linger = .milliseconds(1)
      } _: { hub in
        let token = try await hub.create()
        let raw = try hub.connect()
        await raw.say(
          RunningHub.head(
            "POST /v1/sync", token, "Content-Type: application/jsonl",
            "Content-Length: 4194305", "Expect: 100-continue"))
        let text = try await raw.read()
        #expect(text.hasPrefix("HTTP/1.1 413 ") && text.contains("\"limit\":4194304"), "\(text)")
      }
    }

    @Test func whoWaitsForLeaveToSendItsBodyGetsIt() async throws {
      try await RunningHub.with { hub in
        let device = PushingDevice(hub: hub, token: try await hub.create())
        let raw = try hub.connect()
        let look = try device.look
        await raw.say(
          RunningHub.head(
            "POST /v1/sync", device.token, "Content-Type: application/jsonl",
            "Content-Length: \(look.utf8.count)", "Expect: 100-continue"))
        #expect(try await raw.answer().status == 100)
        await raw.say(look)
        #expect(try await raw.answer().status == 200)
      }
    }

    @Test func aPackedBodyIsRefused() async throws {
      try await RunningHub.with { hub in
        let token = try await hub.create()
        let raw = try hub.connect()
        await raw.say(
          RunningHub.head(
            "POST /v1/sync", token, "Content-Type: application/jsonl", "Content-Encoding: gzip",
            "Content-Length: 1") + "a")
        let answer = try await raw.answer()
        #expect(answer.status == 400 && answer.text.contains("packed"), "\(answer)")
      }
    }

    @Test(arguments: [
      (0..<200).map { "Field-\($0): x" },
      ["Field: " + String(repeating: "x", count: 10_000)],
      (0..<50).map { "Field-\($0): " + String(repeating: "x", count: 1_000) },
    ])
    func aHeadThatIsTooLargeIsRefusedAndItsConnectionCloses(fields: [String]) async throws {
      try await RunningHub.with { hub in
        let raw = try hub.connect()
        let head = RunningHub.head("GET /health").dropLast(2)
        await raw.say(head + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        let text = try await raw.read()
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 4"), "\(text)")
      }
    }

    @Test func aConnectionWithoutARequestCloses() async throws {
      try await RunningHub.with {
        $0.limits.idle = .milliseconds(10)
      } _: { hub in
        let text = try await hub.connect().read()
        #expect(text == "")
      }
    }

    @Test func aDeviceHasAsManyStreamsAsItMayAndOneMoreEndsItsOldest() async throws {
      try await RunningHub.with {
        $0.limits.streams = 2
      } _: { hub in
        let token = try await hub.create()
        let streams = try (0..<3).map { _ in try hub.connect() }
        for stream in streams {
          await stream.say(RunningHub.head("GET /v1/events", token))
          _ = try await stream.read(until: "data: {\"seq\":0}")
        }
        // The end of an answer without a length.
        _ = try await streams[0].read(until: "0\r\n\r\n")
        let device = PushingDevice(hub: hub, token: token)
        #expect(try await device.push(["theme"]).status == 200)
        for stream in streams[1...] { _ = try await stream.read(until: "data: {\"seq\":1}") }
      }
    }

    @Test func whoSendsAheadIsToldToGoOnAfterTheAnswerBefore() async throws {
      try await RunningHub.with { hub in
        let connection = try hub.connect()
        let second = RunningHub.head(
          "POST /v1/devices", nil, "Content-Type: application/json", "Expect: 100-continue",
          "Content-Length: 2")
        await connection.say(RunningHub.head("GET /v1") + second)
        let text = try await connection.read(until: "100 Continue")
        #expect(text.hasPrefix("HTTP/1.1 200 OK"), "\(text)")
      }
    }
  }
#endif
