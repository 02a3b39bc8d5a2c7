// SPDX-License-Identifier: Apache-2.0

#if Server
  import Dispatch
  import HubScript
  import Keepsake
  import KeepsakeHub
  import KeepsakeServer
  import Logging
  import ServiceLifecycle
  import Synchronization
  import TestSupport
  import Testing

  @Suite struct ServiceTests {
    private let (first, second): (Device, Device)
    private let (here, there): (CloudKeyValueStore, CloudKeyValueStore)

    init() throws {
      (first, second) = (try Device.temporary(), try Device.temporary())
      here = try CloudKeyValueStore(on: first)
      there = try CloudKeyValueStore(on: second)
    }

    private func group(_ service: any Service) -> ServiceGroup {
      ServiceGroup(services: [service], logger: Logger(label: "test"))
    }

    /// Shuts a service down while its merge is held, which it has to wait for.
    private func shutDown(_ service: any Service, at pause: Pause) async throws {
      let (group, hasEnded) = (group(service), Ended())
      let running = Task {
        try await group.run()
        hasEnded.value.withLock { $0 = true }
      }
      await pause.isReached()
      await group.triggerGracefulShutdown()
      // Turns enough for one that does not wait.
      for _ in 0..<10_000 { await Task.yield() }
      #expect(!hasEnded.value.withLock { $0 })
      pause.end()
      try await running.value
    }

    private final class Ended: Sendable { let value = Mutex(false) }

    /// Otherwise it would not hear when a layer is reloaded.
    @Test func anObservationKeepsItsStore() throws {
      func observe() throws -> (ObservationService, isThere: () -> Bool) {
        let store = try CloudKeyValueStore(on: first)
        return (ObservationService(store) { _ in }, { [weak store] in store != nil })
      }
      let (service, isThere) = try observe()
      withExtendedLifetime(service) { #expect(isThere()) }
    }

    // MARK: - Two devices

    @Test func devicesSyncUntilTheGroupShutsDown() async throws {
      here["a"] = 1
      let heard = there.changes("a")
      let group = group(SyncService(first, second) { Issue.record($0) })
      let running = Task { try await group.run() }
      for await changes in heard where changes.last?.new == 1 { break }
      await group.triggerGracefulShutdown()
      try await running.value
      here["a"] = 2
      #expect(there["a"] == 1)
    }

    @Test func anExchangeThatIsUnderWayEndsWhole() async throws {
      try here.transaction {
        for number in 0..<500 { here["k\(number)"] = .integer(Int64(number)) }
      }
      let pause = Pause()
      var options = MergeOptions()
      options.chunkSize = 100
      options.onProgress = { _ in pause.pass() }
      let service = SyncService(first, second, options: options) { Issue.record($0) }
      try await shutDown(service, at: pause)
      let numbers = there.dictionaryRepresentation().values.map { $0 }
      #expect(Set(numbers) == Set((0..<500).map { StoredValue.integer($0) }))
    }

    @Test func aCancelledServiceEndsItsExchangeToo() async throws {
      here["a"] = 1
      let pause = Pause()
      var options = MergeOptions()
      options.onProgress = { _ in pause.pass() }
      let service = SyncService(first, second, options: options) { Issue.record($0) }
      let running = Task { await service.run() }
      await pause.isReached()
      running.cancel()
      pause.end()
      await running.value
      #expect(there["a"] == 1)
      here["a"] = 3
      #expect(there["a"] == 1)
    }

    // MARK: - A hub

    private func hub(
      _ served: ServedHub, _ membership: HubMembership,
      pass: @escaping @Sendable () -> Void = {}
    ) throws -> Hub {
      try Hub.scripted(membership) { request in
        guard request.url.path.hasSuffix("/rows") else {
          return ScriptedTransport.Reply([], fault: .failed("no events"))
        }
        pass()
        served.clock = WallClock.system.milliseconds
        return served.answer(request)
      }.hub
    }

    @Test func aSyncWithAHubThatIsUnderWayEndsWhole() async throws {
      for number in 0..<100 { here["k\(number)"] = .integer(Int64(number)) }
      let (served, pause) = (ServedHub(), Pause())
      let membership = try served.membership()
      let paused = try hub(served, membership) { pause.pass() }
      try await shutDown(HubService(first, paused) { _ in }, at: pause)
      try second.merge(with: hub(served, membership))
      #expect(there.dictionaryRepresentation().count == 100)
      // Nobody meets it any more.
      here["k0"] = "late"
      try second.merge(with: hub(served, membership))
      #expect(there["k0"] == 0)
    }

    @Test func aServiceThatTheHubRefusesEndsTheGroup() async throws {
      let (hub, transport) = try Hub.scripted { _ in .problem(401, "token", "revoked by phone") }
      let states = Mutex<[String]>([])
      let group = group(
        HubService(first, hub) { state in
          states.withLock { $0.append(String("\(state)".prefix { $0 != "(" })) }
        } onFailure: { _ in
        })
      let error = await #expect(throws: KeepsakeError.self) { try await group.run() }
      #expect(error?.code == .unauthorized && transport.requests.count == 1)
      #expect(states.withLock { $0 } == ["connecting", "refused"])
    }

    // MARK: - Observation

    @Test func whatWasHeardBeforeTheShutdownIsHandledWholeAndInOrder() async throws {
      let handled = Mutex<[[String]]>([])
      let (reached, reach) = AsyncStream<Void>.makeStream()
      let service = ObservationService(here, .prefix("k")) { changes in
        reach.yield()
        // The first waits for it, and the others come after it.
        try await gracefulShutdown()
        handled.withLock { $0.append(changes.map(\.key)) }
      }
      // Before it runs.
      here["k0"] = 1
      let group = group(service)
      let running = Task { try await group.run() }
      for await _ in reached { break }
      try here.transaction { (here["k1"], here["other"], here["k2"]) = (1, 2, 3) }
      here["k3"] = 4
      await group.triggerGracefulShutdown()
      try await running.value
      here["k4"] = 5
      #expect(handled.withLock { $0 } == [["k0"], ["k1", "k2"], ["k3"]])
    }

    @Test func aCancelledObservationEndsAfterTheSetThatItHandles() async throws {
      let (reached, reach) = AsyncStream<String>.makeStream()
      let service = ObservationService(here) { changes in
        reach.yield(changes[0].key)
        // Until the task is cancelled.
        for await _ in AsyncStream<Void>.makeStream().stream {}
      }
      (here["a"], here["b"]) = (1, 2)
      let running = Task { try await service.run() }
      var keys = reached.makeAsyncIterator()
      #expect(await keys.next() == "a")
      running.cancel()
      try await running.value
      reach.finish()
      #expect(await keys.next() == nil)
    }
  }

  /// Holds the first thread that passes, until it is told to let it go on.
  private final class Pause: Sendable {
    private let (reached, reach) = AsyncStream<Void>.makeStream()
    private let goesOn = DispatchSemaphore(value: 0)
    private let isFirst = Mutex(true)

    func pass() {
      let isFirst = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard isFirst else { return }
      reach.yield()
      goesOn.wait()
    }

    func isReached() async { for await _ in reached { return } }

    func end() { goesOn.signal() }
  }
#endif
