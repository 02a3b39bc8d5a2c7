// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import HubStoreSupport
  import KeepsakeHubServer
  import KeepsakeValues
  import Synchronization
  import Testing

  @Suite struct EventTests {
    /// A store that answers the check of a token late.
    private final class LateStore: HubStore {
      private let memory = MemoryStore()
      private let late = Mutex<(isOn: Bool, isDeaf: Bool, calls: [@Sendable () -> Void])>(
        (false, false, []))
      private let observers = Mutex<[@Sendable (Int64, HubMark) -> Void]>([])
      private let (signals, signal) = AsyncStream.makeStream(of: Void.self)

      func run<Result: Sendable>(
        _ work: HubWork<Result>,
        _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
      ) {
        memory.run(work) { [self] result in
          let isHeld = late.withLock { late in
            guard late.isOn, !work.query.isWriting, work.query.replica == nil else { return false }
            late.calls.append { done(result) }
            return true
          }
          if isHeld { signal.yield() } else { done(result) }
        }
      }

      /// Drops announcements while it is deaf.
      func observe(_ onChange: @escaping @Sendable (Int64, HubMark) -> Void) {
        observers.withLock { $0.append(onChange) }
        memory.observe { [self] in if !late.withLock(\.isDeaf) { onChange($0, $1) } }
      }

      func announce(_ account: Int64, _ mark: HubMark) {
        for observer in observers.withLock(\.self) { observer(account, mark) }
      }

      func close() {}

      func hold() { late.withLock { $0.isOn = true } }
      func turnDeaf() { late.withLock { $0.isDeaf = true } }
      func waitUntilHeld() async { for await _ in signals { break } }

      func release() {
        let calls = late.withLock { late in
          defer { late = (false, late.isDeaf, []) }
          return late.calls
        }
        for call in calls { call() }
      }
    }

    @Test func aPollIsAnsweredThoughItsFirstReadingIsOlderThanAPush() async throws {
      let store = LateStore()
      try await RunningHub.with(over: store) {
        // The poll would end at once, with the mark that it knows.
        $0.sleep = { if $0 != .seconds(55) { try await Task.sleep(for: $0) } }
      } _: { hub in
        let device = try await hub.create()
        let start = try await device.newest()
        store.hold()
        async let poll = device.ask("GET", "/events?after=\(start)&wait=55")
        await store.waitUntilHeld()
        let pushed = try await device.push(["k"]).member("newest")
        store.release()
        #expect(try await poll.member("newest") == pushed)
      }
    }

    /// Like a mark of another process of the hub, if the database did not pass it on.
    @Test func aStreamFindsAPushThatWasNotAnnouncedAtItsNextBeat() async throws {
      let (time, store) = (ManualTime(), LateStore())
      store.turnDeaf()
      try await RunningHub.with(over: store) {
        $0.sleep = { try await time.sleepLong($0) }
      } _: { hub in
        let device = try await hub.create()
        let stream = try await hub.stream(of: device)
        let pushed = try await device.push(["k"]).member("newest")
        await time.pass(.seconds(25))
        _ = try await stream.read(until: "\"newest\":\"\(pushed)\"")
      }
    }

    @Test func aPollFindsAPushThatWasNotAnnouncedWhenItEnds() async throws {
      let (time, store) = (ManualTime(), LateStore())
      store.turnDeaf()
      try await RunningHub.with(over: store) {
        $0.sleep = { try await time.sleepLong($0) }
      } _: { hub in
        let device = try await hub.create()
        let start = try await device.newest()
        async let poll = device.ask("GET", "/events?after=\(start)&wait=55")
        await time.begin(.seconds(55))
        let pushed = try await device.push(["k"]).member("newest")
        await time.pass(.seconds(55))
        #expect(try await poll.member("newest") == pushed)
      }
    }

    /// Another process of the hub may announce a mark late.
    @Test(arguments: [false, true])
    func pushesThatComeSoonAfterAnEventAreOneEvent(isFirstAnnouncedLate: Bool) async throws {
      let (time, store) = (ManualTime(), LateStore())
      try await RunningHub.with(over: store) {
        $0.sleep = { $0 < .seconds(1) ? try await time.sleep($0) : try await Task.sleep(for: $0) }
      } _: { hub in
        let device = try await hub.create()
        let stream = try await hub.stream(of: device)
        await time.begin(.milliseconds(100))
        let first = try await device.push(["k"]).member("newest")
        let second = try await device.push(["k"]).member("newest")
        if isFirstAnnouncedLate {
          let account = try #require(HexNumber.number(device.account))
          store.announce(account, try #require(HubMark(text: first)))
        }
        await time.pass(.milliseconds(100))
        let text = try await stream.read(until: "\"newest\":\"\(second)\"")
        #expect(!text.contains(first), "\(text)")
      }
    }

    @Test func aStreamsConnectionIsNotUsedAgainAndNoProxyIsToBufferIt() async throws {
      try await RunningHub.with { hub in
        let device = try await hub.create()
        let stream = try hub.connect()
        await stream.say(RunningHub.head("GET " + device.path("/events"), device.token))
        let head = try await stream.read(until: "data: ")
        #expect(head.lowercased().contains("connection: close"), "\(head)")
        #expect(head.lowercased().contains("x-accel-buffering: no"), "\(head)")
      }
    }
  }
#endif
