// SPDX-License-Identifier: Apache-2.0

import Dispatch
import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import Synchronization
import TestSupport
import Testing

/// Requests of a session while it listens.
@Suite struct SessionRequestTests {
  /// A stream of events that stays open.
  private final class Stream: TransportExchange {
    private let events = Mutex<[TransportEvent]>([
      .head(status: 200, headers: ["content-type": "text/event-stream"])
    ])
    private let signal = DispatchSemaphore(value: 1)
    /// Signalled when what was said before has been taken.
    let isHeard = DispatchSemaphore(value: 0)

    func say(_ newest: String) {
      events.withLock { $0.append(.body(Array("data: {\"newest\":\"\(newest)\"}\n\n".utf8))) }
      signal.signal()
    }

    func next(within limit: Duration) throws(TransportFault) -> TransportEvent {
      isHeard.signal()
      signal.wait()
      let event = events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard let event else { throw .cancelled }
      return event
    }

    func cancel() { signal.signal() }
  }

  private struct Transport: HubTransport {
    let rows: ScriptedTransport
    let stream: Stream

    func begin(_ request: TransportRequest) -> any TransportExchange {
      request.url.path.hasSuffix("/events") ? stream : rows.begin(request)
    }
  }

  private let clock = ManualClock()
  private let stream = Stream()
  private let pushed = DispatchSemaphore(value: 0)
  private let arrived = DispatchSemaphore(value: 0)
  private let device: Device
  private let laptop: Device

  init() throws {
    device = try .inMemory(clock: clock)
    laptop = try .inMemory(clock: clock)
  }

  private func wait(_ semaphore: DispatchSemaphore) {
    #expect(semaphore.wait(timeout: .now() + 60) == .success)
  }

  private func newest(_ device: Device, _ membership: HubMembership) throws -> String {
    try device.tables.read { try $0.hubs.cursor(of: membership.account).read }
  }

  /// A session that has pushed a row, and listens.
  private func listen(_ membership: HubMembership, _ rows: ScriptedTransport) throws -> HubSession {
    let transport = Transport(rows: rows, stream: stream)
    let hub = Hub(try HubURL("https://hub.example"), membership, by: transport)
    try device.set("a", 1)
    let session = HubSession(device, hub, MergeOptions(), .system) { _ in
    } onSync: { [pushed, arrived] report in
      if report.transfers[1].changed > 0 { pushed.signal() }
      if report.changes.contains(where: { $0.change.key == "c" }) { arrived.signal() }
    } onFailure: {
      Issue.record("\($0)")
    }
    // For the head of the stream, and for the first event.
    for semaphore in [pushed, stream.isHeard, stream.isHeard] { wait(semaphore) }
    return session
  }

  @Test func aSettingIsPushedByOneRequestWhileNothingIsNew() throws {
    let served = ServedHub()
    let rows = ScriptedTransport { [clock] in served.answer($0, at: clock) }
    let (first, other) = try served.pair()
    let session = try listen(first, rows)
    defer { session.cancel() }
    stream.say(try newest(device, first))
    wait(stream.isHeard)
    let before = rows.requests.count
    try device.set("b", 2)
    wait(pushed)
    #expect(rows.requests.dropFirst(before).map(\.method) == ["POST"])
    // Others push, and no event comes.
    let hub = try Hub.scripted(other) { [clock] in served.answer($0, at: clock) }.hub
    try laptop.merge(with: hub)
    try laptop.set("c", 3)
    try laptop.merge(with: hub)
    try device.set("d", 4)
    wait(pushed)
    wait(arrived)
    #expect(rows.requests.suffix(2).map(\.method) == ["POST", "GET"])
  }

  @Test func anAnswerThatDoesNotSayTheLongestRowLeavesTheKnownOne() throws {
    var limits = HubLimits()
    limits.rowBytes = 1_000
    let served = ServedHub(limits: limits)
    let rows = ScriptedTransport { [clock] in served.answer($0, at: clock) }
    let session = try listen(served.membership(), rows)
    defer { session.cancel() }
    let before = rows.requests.count
    try device.write([
      LocalWrite(store: "cloud", key: "b", value: .string(String(repeating: "x", count: 2_000))),
      LocalWrite(store: "cloud", key: "c", value: 3),
    ])
    wait(pushed)
    // No event has come, so the device asks, and is answered that nothing is new.
    #expect(rows.requests.dropFirst(before).map(\.method).filter { $0 == "POST" }.count == 1)
  }

  /// Another device pushes while the answer to a push is on its way.
  @Test func anEventBeforeTheAnswerToAPushIsNotForgotten() throws {
    let served = ServedHub()
    let (first, other) = try served.pair()
    let isAwaited = Atomic(false)
    let hub = try Hub.scripted(other) { [clock] in served.answer($0, at: clock) }.hub
    let rows = ScriptedTransport { [self] request in
      let reply = served.answer(request, at: clock)
      guard request.method == "POST", isAwaited.exchange(false, ordering: .relaxed) else {
        return reply
      }
      do {
        for _ in 0..<2 {
          try laptop.merge(with: hub)
          try laptop.set("c", 3)
        }
        stream.say(try newest(laptop, other))
        wait(stream.isHeard)
      } catch {
        Issue.record(error)
      }
      return reply
    }
    let session = try listen(first, rows)
    defer { session.cancel() }
    stream.say(try newest(device, first))
    wait(stream.isHeard)
    isAwaited.store(true, ordering: .relaxed)
    try device.set("b", 2)
    wait(arrived)
  }
}

extension ServedHub {
  /// The memberships of two devices of one account.
  fileprivate func pair() throws -> (HubMembership, HubMembership) {
    let first = try membership()
    return (first, try membership(beside: first))
  }
}
