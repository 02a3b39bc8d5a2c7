// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import HubSupport
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import Synchronization
  import Testing

  /// What who runs a hub sees of it.
  @Suite struct HubServiceTests {
    @Test(arguments: [
      (HubDatabaseError.broken("/srv/hub.db is damaged"), "60"),
      (.unavailable("/srv/hub.db: the disk is full"), "5"),
    ])
    func aHubWhoseDatabaseFailsIsNotReadyAndAliveAllTheSame(
      error: HubDatabaseError, retryAfter: String
    ) async throws {
      try await RunningHub.with(over: FailingDatabase(error: error)) { hub in
        let ready = try await hub.ask("GET", "/ready")
        #expect(ready.status == 503 && ready.retryAfter == retryAfter)
        #expect(try ready.member("error") == "unavailable")
        // Where the hub keeps what is for its logs alone.
        #expect(!ready.text.contains("/srv"))
        #expect(try await hub.ask("POST", "/v1/sync", "token").status == 503)
        #expect(try await hub.ask("GET", "/health").status == 200)
      }
    }

    @Test func aHubThatCannotWriteIsNotReadyUntilItCan() async throws {
      let database = FullDatabase()
      try await RunningHub.with(over: database) { hub in
        let device = PushingDevice(hub: hub, token: try await hub.create())
        func ready() async throws -> Int { try await hub.ask("GET", "/ready").status }
        #expect(try await device.push(["theme"]).status == 200)
        #expect(try await ready() == 200)
        database.isFull.withLock { $0 = true }
        #expect(try await hub.ask("GET", "/v1/export", device.token).status == 503)
        #expect(try await ready() == 200)
        // The answer is no message of the protocol.
        await #expect(throws: (any Error).self) { try await device.push(["theme"]) }
        #expect(try await ready() == 503)
        database.isFull.withLock { $0 = false }
        #expect(try await hub.ask("GET", "/v1/export", device.token).status == 200)
        #expect(try await ready() == 503)
        #expect(try await device.push(["theme"]).status == 200)
        #expect(try await ready() == 200)
      }
    }

    @Test func metricsCountRequestsRowsAndListenersOnAPortOfTheirOwn() async throws {
      try await RunningHub.with {
        $0.metrics = ("127.0.0.1", 0)
      } _: { hub in
        func metrics() async throws -> String {
          try await hub.ask("GET", "/metrics", port: hub.metricsPort).text
        }
        #expect(try await metrics().contains("keepsake_hub_rows_total{rows=\"taken\"} 0\n"))
        let device = PushingDevice(hub: hub, token: try await hub.create())
        #expect(try await device.push(["theme", "size"]).status == 200)
        #expect(try await hub.ask("GET", "/v1/export", device.token).status == 200)
        #expect(try await hub.ask("GET", "/metrics").status == 404)
        // The fifth ends the first.
        let streams = try (0..<5).map { _ in try hub.connect() }
        for stream in streams {
          await stream.say(RunningHub.head("GET /v1/events", device.token))
          _ = try await stream.read(until: "data: {\"seq\":2}")
        }
        let text = try await metrics()
        for line in [
          "# TYPE keepsake_hub_requests_total counter",
          "keepsake_hub_requests_total{request=\"POST /v1/sync\",status=\"200\"} 2",
          "keepsake_hub_requests_total{request=\"other\",status=\"404\"} 1",
          "keepsake_hub_rows_total{rows=\"taken\"} 2", "keepsake_hub_rows_total{rows=\"given\"} 2",
          "keepsake_hub_database_failures_total{on=\"account\"} 0",
          "keepsake_hub_request_seconds_count{request=\"POST /v1/sync\"} 2",
          "keepsake_hub_listeners 4",
        ] {
          #expect(text.contains("\n\(line)\n") || text.hasPrefix(line + "\n"), "\(line) in \(text)")
        }
      }
    }

    @Test func anExportHasEveryRowOnceOverSeveralPages() async throws {
      try await RunningHub.with { hub in
        let device = PushingDevice(hub: hub, token: try await hub.create())
        let keys = (0..<2_500).map { "key \($0)" }
        for start in stride(from: 0, to: keys.count, by: 1_000) {
          let part = Array(keys[start..<min(start + 1_000, keys.count)])
          #expect(try await device.push(part).status == 200)
        }
        let lines = try await hub.ask("GET", "/v1/export", device.token).text
          .split(separator: "\n")
        let told = lines.compactMap { $0.firstMatch(of: /"key":"([^"]*)"/)?.output.1 }
        #expect(lines.count == keys.count && Set(told) == Set(keys.map { $0[...] }))
      }
    }
  }

  /// A database that fails whatever is asked of it.
  private struct FailingDatabase: HubDatabase {
    let error: HubDatabaseError
    let name = "(failing)"

    func submit<Result: Sendable>(
      on account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) { done(.failure(error)) }

    func submit<Result: Sendable>(
      _ work: @escaping @Sendable (any HubDirectory) throws -> Result,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) { done(.failure(error)) }

    func observe(_ onChange: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void) {}
    func close() {}
  }

  /// A database that works on no account while it is full.
  private final class FullDatabase: HubDatabase {
    let isFull = Mutex(false)
    let name = "(full)"
    private let memory = MemoryDatabase()

    func submit<Result: Sendable>(
      on account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
      if isFull.withLock(\.self) { return done(.failure(HubDatabaseError.unavailable("full"))) }
      memory.submit(on: account, work, done)
    }

    func submit<Result: Sendable>(
      _ work: @escaping @Sendable (any HubDirectory) throws -> Result,
      _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) { memory.submit(work, done) }

    func observe(_ onChange: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void) {
      memory.observe(onChange)
    }

    func close() { memory.close() }
  }
#endif
