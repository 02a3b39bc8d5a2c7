// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import HubStoreSupport
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import Synchronization
  import Testing

  @Suite struct HubServerTests {
    @Test func aStoreThatFailsIsReportedWithoutItsPaths() async throws {
      let store = MemoryStore()
      try await RunningHub.with(over: store) { hub in
        let device = try await hub.create()
        for (error, retryAfter) in [
          (HubStoreError.unavailable("/srv/hub"), "5"), (.broken("/srv/hub"), "60"),
        ] {
          store.fail(error)
          for path in ["/ready", device.path("/devices")] {
            let answer = try await hub.ask("GET", path, device.token)
            #expect(answer.status == 503 && answer.retryAfter == retryAfter)
            #expect(try answer.problem == "unavailable" && !answer.text.contains("/srv"))
          }
          #expect(try await hub.ask("GET", "/health").status == 200)
        }
        store.fail(nil)
        #expect(try await hub.ask("GET", "/ready").status == 200)
      }
    }

    @Test func aDeviceThatAsksTooOftenIsToldWhenToAskAgain() async throws {
      try await RunningHub.with {
        $0.limits.requestsPerMinute = 5
        $0.now = { 0 }
      } _: { hub in
        let (device, other) = (try await hub.create(), try await hub.create())
        // The first one makes the token known.
        for _ in 0..<3 { #expect(try await device.ask("GET", "/devices").status == 200) }
        let refused = try await device.ask("GET", "/devices")
        #expect(refused.status == 429 && refused.retryAfter == "12")
        #expect(try refused.problem == "too-many")
        #expect(try refused.member("limit") == "requestsPerMinute")
        #expect(try await other.ask("GET", "/devices").status == 200)
      }
    }

    @Test func unknownTokensShareOneRateThatDoesNotStopKnownOnes() async throws {
      try await RunningHub.with {
        $0.limits.unknownPerMinute = 30
        $0.now = { 0 }
      } _: { hub in
        let device = try await hub.create()
        #expect(try await device.ask("GET", "/devices").status == 200)
        var statuses: [Int] = []
        for number in 0..<12 {
          let stranger = TestDevice(hub: hub, account: device.account, token: "t\(number)")
          statuses.append(try await stranger.ask("GET", "/devices").status)
        }
        #expect(Set(statuses) == [401, 429] && statuses.last == 429)
        let refused = try await hub.ask("PUT", device.path(""), hub.secret, "{}")
        #expect(try refused.member("limit") == "unknownPerMinute")
        #expect(try await device.ask("GET", "/devices").status == 200)
      }
    }

    @Test func aDeviceHasAsManyBytesUnderWayAsItMay() async throws {
      try await RunningHub.with {
        $0.limits.deviceBytesInFlight = 100_000
      } _: { hub in
        let phone = try await hub.create()
        let laptop = try await phone.join()
        let slow = try await hub.pushHead(of: phone, 90_000)
        let large = TestDevice.lines(["k"], "\"\(String(repeating: "x", count: 20_000))\"")
        let refused = try await phone.push(large, upon: "0-0000000000000000")
        #expect(try refused.status == 429 && refused.member("limit") == "deviceBytesInFlight")
        #expect(try await laptop.push(large, upon: "0-0000000000000000").status == 200)
        slow.end()
        while try await phone.push(large, upon: "0-0000000000000000").status == 429 {}
      }
    }

    @Test func aRevokedDeviceIsRefusedBeforeTheBodyOfItsRequest() async throws {
      try await RunningHub.with { hub in
        let phone = try await hub.create()
        let laptop = try await phone.join()
        #expect(try await laptop.ask("GET", "/rows?replica=r").status == 200)
        #expect(try await phone.ask("DELETE", "/devices/2").status == 204)
        let raw = try hub.connect()
        await raw.say(laptop.head("Content-Length: 4000000", of: "/forget"))
        #expect(try await raw.answer().status == 401)
      }
    }

    /// A page that was to be small has one row at least, and the vectors.
    @Test func theBytesOfALargeRowCountThoughThePageWasToBeSmall() async throws {
      try await RunningHub.with {
        $0.limits.deviceBytesInFlight = 200_000
      } _: { hub in
        let device = try await hub.create()
        let large = TestDevice.lines(["k"], "\"\(String(repeating: "x", count: 150_000))\"")
        let start = "0-0000000000000000"
        let newest = try await device.push(large, upon: start).member("newest")
        let slow = try hub.connect()
        await slow.say(
          device.head("Content-Length: 60000", "Expect: 100-continue", upon: "\"\(newest)\""))
        #expect(try await slow.answer().status == 100)
        let refused = try await device.ask(
          "GET", "/rows?replica=r", fields: ["If-None-Match": "\"\(start)\""])
        #expect(try refused.status == 429 && refused.member("limit") == "deviceBytesInFlight")
      }
    }

    @Test func aVeryLargeLimitOfRequestsHoldsAfterASilentDay() async throws {
      let day = Mutex<Int64>(0)
      try await RunningHub.with {
        $0.limits.requestsPerMinute = .max / 200_000
        $0.now = { day.withLock { $0 } }
      } _: { hub in
        let device = try await hub.create()
        #expect(try await device.ask("GET", "/devices").status == 200)
        #expect(try await device.ask("GET", "/devices").status == 200)
        day.withLock { $0 = 86_400_000 }
        #expect(try await device.ask("GET", "/devices").status == 200)
      }
    }

    @Test func aBodyWithoutAKnownTokenTakesNoMemory() async throws {
      try await RunningHub.with { hub in
        let device = try await hub.create()
        let stranger = TestDevice(hub: hub, account: device.account, token: "t")
        for (path, length) in [
          ("/forget?replica=r", 4_000_000), ("/rows?replica=r", 4_000_000),
          ("/rows?replica=r", 60_000),
        ] {
          let raw = try hub.connect()
          await raw.say(
            stranger.head("Content-Length: \(length)", "Expect: 100-continue", of: path))
          #expect(try await raw.answer().status == 401)
        }
      }
    }

    @Test func theProcessHasAsManyBytesUnderWayAsItMay() async throws {
      try await RunningHub.with {
        $0.limits.bytesInFlight = 70_000
      } _: { hub in
        let (device, other) = (try await hub.create(), try await hub.create())
        let slow = try await hub.pushHead(of: device, 60_000)
        let large = TestDevice.lines(["k"], "\"\(String(repeating: "x", count: 20_000))\"")
        let refused = try await other.push(large, upon: "0-0000000000000000")
        #expect(try refused.status == 503 && refused.problem == "busy")
        #expect(try refused.member("limit") == "bytesInFlight")
        slow.end()
      }
    }

    @Test func oneStreamTooManyIsRefusedAndPollsCountToo() async throws {
      try await RunningHub.with {
        $0.limits.streams = 2
      } _: { hub in
        let device = try await hub.create()
        let streams = try (0..<2).map { _ in try hub.connect() }
        for stream in streams {
          await stream.say(RunningHub.head("GET " + device.path("/events"), device.token))
          _ = try await stream.read(until: "\"newest\":\"0-0000000000000000\"")
        }
        let refused = try await device.ask("GET", "/events?after=x&wait=1")
        #expect(try refused.status == 429 && refused.member("limit") == "streams")
        // It waits for nothing, so it is no stream.
        #expect(try await device.ask("GET", "/events?after=x&wait=0").status == 200)
        #expect(try await device.push(["k"]).status == 200)
        for stream in streams { _ = try await stream.read(until: "\"newest\":\"1-") }
        streams[0].end()
        while try await device.ask("GET", "/events?after=x&wait=1").status == 429 {}
      }
    }

    @Test func aRevokedDevicesStreamEndsAtOnce() async throws {
      try await RunningHub.with { hub in
        let phone = try await hub.create()
        let laptop = try await phone.join()
        let stream = try await hub.stream(of: laptop)
        #expect(try await phone.ask("DELETE", "/devices/2").status == 204)
        // The end of an answer without a length.
        _ = try await stream.read(until: "0\r\n\r\n")
        #expect(try await laptop.ask("GET", "/events").problem == "token")
      }
    }

    @Test func aStreamBeatsAndAsksWhetherItsDeviceMayStillListen() async throws {
      let (time, store) = (ManualTime(), MemoryStore())
      try await RunningHub.with(over: store) {
        $0.sleep = { try await time.sleepLong($0) }
      } _: { hub in
        let device = try await hub.create()
        let stream = try await hub.stream(of: device)
        await time.pass(.seconds(25))
        _ = try await stream.read(until: ":\n\n")
        store.fail(.unavailable("gone"))
        await time.pass(.seconds(25))
        _ = try await stream.read(until: "0\r\n\r\n")
      }
    }

    @Test func metricsCountRequestsRowsAndListenersOnAPortOfTheirOwn() async throws {
      try await RunningHub.with {
        $0.metrics = ("127.0.0.1", 0)
      } _: { hub in
        let device = try await hub.create()
        #expect(try await device.push(["theme", "size"]).status == 200)
        #expect(try await device.ask("GET", "/rows").status == 200)
        #expect(try await hub.ask("GET", "/metrics").status == 404)
        let stream = try await hub.stream(of: device)
        let text = try await hub.ask("GET", "/metrics", port: hub.metricsPort).text
        stream.end()
        let push = "request=\"POST /v1/accounts/{account}/rows\""
        for line in [
          "# TYPE keepsake_hub_requests_total counter",
          "keepsake_hub_requests_total{\(push),status=\"200\"} 1",
          "keepsake_hub_requests_total{request=\"other\",status=\"404\"} 1",
          "keepsake_hub_rows_total{rows=\"taken\"} 2", "keepsake_hub_rows_total{rows=\"given\"} 2",
          "keepsake_hub_database_failures_total{on=\"write\"} 0",
          "keepsake_hub_request_seconds_count{\(push)} 1", "keepsake_hub_listeners 1",
        ] {
          #expect(text.contains("\n\(line)\n") || text.hasPrefix(line + "\n"), "\(line) in \(text)")
        }
        #expect(!text.contains(device.account))
      }
    }
  }
#endif
