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

  @Test func aSettingIsPushedByOneRequestWhileNothingIsNew() throws {
    let (clock, served) = (ManualClock(), ServedHub())
    let rows = ScriptedTransport { served.answer($0, at: clock) }
    let transport = Transport(rows: rows, stream: Stream())
    let (first, other) = try served.pair()
    let hub = Hub(try HubURL("https://hub.example"), first, by: transport)
    let device = try Device.inMemory(clock: clock)
    try device.write([LocalWrite(store: "cloud", key: "a", value: 1)])
    let (pushed, arrived) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let session = HubSession(device, hub, MergeOptions(), .system) { _ in
    } onSync: { report in
      if report.transfers[1].changed > 0 { pushed.signal() }
      if report.changes.contains(where: { $0.change.key == "c" }) { arrived.signal() }
    } onFailure: {
      Issue.record("\($0)")
    }
    defer { session.cancel() }
    func wait(_ semaphore: DispatchSemaphore) {
      #expect(semaphore.wait(timeout: .now() + 60) == .success)
    }
    func say() throws {
      transport.stream.say(
        try device.core.read { try $0.hubs.cursor(of: first.account).read })
      wait(transport.stream.isHeard)
    }
    wait(pushed)
    // For its head, and for the first event.
    for _ in 0..<2 { wait(transport.stream.isHeard) }
    try say()
    let before = rows.requests.count
    try device.write([LocalWrite(store: "cloud", key: "b", value: 2)])
    wait(pushed)
    #expect(rows.requests.dropFirst(before).map(\.method) == ["POST"])
    // Others push, and no event comes.
    let laptop = try Device.inMemory(clock: clock)
    try laptop.merge(with: Hub.scripted(other) { served.answer($0, at: clock) }.hub)
    try laptop.write([LocalWrite(store: "cloud", key: "c", value: 3)])
    try laptop.merge(with: Hub.scripted(other) { served.answer($0, at: clock) }.hub)
    try device.write([LocalWrite(store: "cloud", key: "d", value: 4)])
    wait(pushed)
    wait(arrived)
    #expect(rows.requests.suffix(2).map(\.method) == ["POST", "GET"])
  }

  @Test func anAnswerThatDoesNotSayTheLongestRowLeavesTheKnownOne() throws {
    var limits = HubLimits()
    limits.rowBytes = 1_000
    let (clock, served, pushed) = (
      ManualClock(), ServedHub(limits: limits), DispatchSemaphore(value: 0)
    )
    let rows = ScriptedTransport { served.answer($0, at: clock) }
    let transport = Transport(rows: rows, stream: Stream())
    let hub = Hub(try HubURL("https://hub.example"), try served.membership(), by: transport)
    let device = try Device.inMemory(clock: clock)
    try device.write([LocalWrite(store: "cloud", key: "a", value: 1)])
    let session = HubSession(device, hub, MergeOptions(), .system) { _ in
    } onSync: { report in
      if report.transfers[1].changed > 0 { pushed.signal() }
    } onFailure: {
      Issue.record("\($0)")
    }
    defer { session.cancel() }
    for semaphore in [pushed, transport.stream.isHeard, transport.stream.isHeard] {
      #expect(semaphore.wait(timeout: .now() + 60) == .success)
    }
    let before = rows.requests.count
    try device.write([
      LocalWrite(store: "cloud", key: "b", value: .string(String(repeating: "x", count: 2_000))),
      LocalWrite(store: "cloud", key: "c", value: 3),
    ])
    #expect(pushed.wait(timeout: .now() + 60) == .success)
    // No event has come, so the device asks, and is answered that nothing is new.
    #expect(rows.requests.dropFirst(before).map(\.method).filter { $0 == "POST" }.count == 1)
  }

  /// Another device pushes while the answer to a push is on its way.
  @Test func anEventBeforeTheAnswerToAPushIsNotForgotten() throws {
    let (clock, served, stream) = (ManualClock(), ServedHub(), Stream())
    let (first, other) = try served.pair()
    let (device, laptop) = (try Device.inMemory(clock: clock), try Device.inMemory(clock: clock))
    func newest(_ device: Device) throws -> String {
      try device.core.read { try $0.hubs.cursor(of: first.account).read }
    }
    @Sendable func wait(_ semaphore: DispatchSemaphore) {
      #expect(semaphore.wait(timeout: .now() + 60) == .success)
    }
    let isAwaited = Atomic(false)
    let rows = ScriptedTransport { request in
      let reply = served.answer(request, at: clock)
      guard request.method == "POST", isAwaited.exchange(false, ordering: .relaxed) else {
        return reply
      }
      do {
        for _ in 0..<2 {
          try laptop.merge(with: Hub.scripted(other) { served.answer($0, at: clock) }.hub)
          try laptop.write([LocalWrite(store: "cloud", key: "c", value: 3)])
        }
        stream.say(try laptop.core.read { try $0.hubs.cursor(of: other.account).read })
        wait(stream.isHeard)
      } catch {
        Issue.record(error)
      }
      return reply
    }
    let hub = Hub(
      try HubURL("https://hub.example"), first, by: Transport(rows: rows, stream: stream))
    try device.write([LocalWrite(store: "cloud", key: "a", value: 1)])
    let (pushed, arrived) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let session = HubSession(device, hub, MergeOptions(), .system) { _ in
    } onSync: { report in
      if report.transfers[1].changed > 0 { pushed.signal() }
      if report.changes.contains(where: { $0.change.key == "c" }) { arrived.signal() }
    } onFailure: {
      Issue.record("\($0)")
    }
    defer { session.cancel() }
    wait(pushed)
    // For its head, and for the first event.
    for _ in 0..<2 { wait(stream.isHeard) }
    stream.say(try newest(device))
    wait(stream.isHeard)
    isAwaited.store(true, ordering: .relaxed)
    try device.write([LocalWrite(store: "cloud", key: "b", value: 2)])
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
