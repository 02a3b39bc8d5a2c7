// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubHTTP
  import Testing

  /// Connections that do not behave.
  @Suite struct HubConnectionTests {
    /// Runs with a connection that speaks byte by byte, and a device.
    private func with(
      _ change: (inout HubServer.Settings) -> Void = { _ in },
      _ body: (RawConnection, TestDevice) async throws -> Void
    ) async throws {
      try await RunningHub.with(change) { try await body($0.connect(), $0.create()) }
    }

    @Test(arguments: [10, 4_000_000])
    func theConnectionOfABodyThatTakesTooLongCloses(length: Int) async throws {
      try await with {
        $0.limits.bodyTimeout = .milliseconds(1)
      } _: { raw, device in
        await raw.say(device.head("Content-Length: \(length)") + "a")
        let text = try await raw.read()
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 400 "), "\(text)")
      }
    }

    @Test func theTimeForABodyEndsWithIt() async throws {
      try await with {
        $0.limits.bodyTimeout = .milliseconds(200)
        $0.sleep = { _ in try await Task.sleep(for: .milliseconds(400)) }
      } _: { raw, device in
        let start = try await device.newest()
        let poll = "GET " + device.path("/events?after=\(start)&wait=55")
        await raw.say(RunningHub.head(poll, device.token, ["Content-Length: 1"]) + "x")
        #expect(try await raw.answer().status == 200)
      }
    }

    @Test func aBodyThatIsCutOffIsNoRequest() async throws {
      try await with { raw, device in
        await raw.say(device.head("Content-Length: 10") + "a")
        raw.endSending()
        // Refused, or closed without a word; never served.
        let text = try await raw.read()
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 400 "), "\(text)")
      }
    }

    @Test func aBodyWithoutEndIsRefusedAndItsConnectionCloses() async throws {
      try await with { raw, device in
        await raw.say(device.head("Transfer-Encoding: chunked"))
        let chunk = "100000\r\n" + String(repeating: "x", count: 1 << 20) + "\r\n"
        var count = 0
        while await raw.say(chunk) {
          count += 1
          try #require(count < 256, "the hub reads on without end")
        }
      }
    }

    @Test func anAnnouncedBodyThatIsTooLargeIsRefusedBeforeItComes() async throws {
      try await with { raw, device in
        await raw.say(
          device.head("Content-Length: 4194305", "Expect: 100-continue"))
        let answer = try await raw.answer()
        #expect(answer.status == 413 && answer.text.contains("bodyBytes"), "\(answer)")
      }
    }

    @Test func aClientThatWaitsBeforeItsBodyIsToldToContinue() async throws {
      try await with { raw, device in
        let body = TestDevice.lines(["k"])
        await raw.say(
          device.head("Content-Length: \(body.utf8.count)", "Expect: 100-continue"))
        let goesOn = try await raw.answer()
        await raw.say(body)
        let answer = try await raw.answer()
        #expect(goesOn.status == 100 && answer.status == 200)
      }
    }

    @Test func aCompressedBodyIsRefused() async throws {
      try await with { raw, device in
        await raw.say(
          device.head("Content-Encoding: gzip", "Content-Length: 1") + "a")
        let answer = try await raw.answer()
        #expect(answer.status == 400)
      }
    }

    @Test(arguments: [
      (0..<200).map { "Field-\($0): x" },
      ["Field: " + String(repeating: "x", count: 20_000)],
      (0..<50).map { "Field-\($0): " + String(repeating: "x", count: 1_000) },
    ])
    func aHeadThatIsTooLargeIsRefusedAndItsConnectionCloses(fields: [String]) async throws {
      try await RunningHub.with { hub in
        let raw = try hub.connect()
        let head = RunningHub.head("GET /health").dropLast(2)
        await raw.say(head + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        let text = try await raw.read()
        // The system may drop an answer whose request was not read to its end.
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 413") && text.contains("headBytes"))
      }
    }

    /// NIO would end this process.
    @Test func aHubMayEndWhileConnectionsComeThatItHasNotTaken() async throws {
      for _ in 0..<50 {
        try await RunningHub.with { hub in
          let connections = try (0..<20).map { _ in try hub.connect() }
          withExtendedLifetime(connections) {}
        }
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

    @Test func aConnectionThatIsIdleAfterAnAnswerCloses() async throws {
      try await RunningHub.with {
        $0.limits.idle = .milliseconds(100)
      } _: { hub in
        let raw = try hub.connect()
        await raw.say("GET /health HTTP/1.1\r\nHost: hub\r\n\r\n")
        // Until it is closed.
        #expect(try await raw.read().hasPrefix("HTTP/1.1 200"))
      }
    }

    @Test func theConnectionOfAHeadThatNeverEndsCloses() async throws {
      try await RunningHub.with {
        $0.limits.idle = .milliseconds(100)
        $0.limits.headBytes = 1 << 20
      } _: { hub in
        let raw = try hub.connect()
        await raw.say("GET /health HTTP/1.1\r\nField: ")
        var count = 0
        while await raw.say("x") {
          count += 1
          try #require(count < 500_000, "each byte prolongs the time for the head")
        }
      }
    }
  }
#endif
