// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSessions
import KeepsakeSync
import KeepsakeTesting
import Synchronization
import TestSupport
import Testing

/// How long a device pauses if a hub asks for it, or does not wait when it should.
@Suite struct PauseTests {
  typealias Reply = ScriptedTransport.Reply

  private let clock = ManualClock()
  private let made = Collected<Duration>()

  /// Syncs with a hub that sends other answers first.
  private func sync(after first: [Reply]) throws -> KeepsakeError? {
    let (served, clock, left, made) = (ServedHub(), clock, Left(first), made)
    let (hub, _) = try Hub.scripted(served.membership()) {
      made.append([$0])
    } _: { request in
      left.next() ?? served.answer(request, at: clock)
    }
    do throws(KeepsakeError) {
      let report = try Device.inMemory(clock: clock).merge(with: hub)
      #expect(report.hasConverged)
      return nil
    } catch {
      return error
    }
  }

  /// Replies that are still to come.
  private final class Left: Sendable {
    private let replies: Mutex<[Reply]>
    init(_ replies: [Reply]) { self.replies = Mutex(replies) }
    func next() -> Reply? { replies.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
  }

  private func busy(_ seconds: Int) -> Reply {
    .problem(429, "too-many", "300 a minute", ["retry-after": "\(seconds)"])
  }

  @Test func aMergeWaitsForAHubThatIsBusyForAMoment() throws {
    #expect(try sync(after: [busy(3), busy(0), busy(10)]) == nil)
    #expect(Array(made.sets.joined()) == [.seconds(3), .seconds(1), .seconds(10)])
  }

  @Test func aMergeWaitsAMinuteInAll() throws {
    let error = try sync(after: Array(repeating: busy(7), count: 100))
    #expect(error?.retryAfter == .seconds(7))
    #expect(Array(made.sets.joined()) == Array(repeating: .seconds(7), count: 8))
  }

  @Test func aHubThatIsBusyBeforeEachPageIsReadToItsEnd() throws {
    let (served, clock, refusal) = (ServedHub(), clock, busy(7))
    let isBusy = Mutex(false)
    let first = try served.membership()
    let writer = try Device.inMemory(clock: clock)
    for number in 0..<12 {
      try writer.write([LocalWrite(store: "cloud", key: "k\(number)", value: 1)])
    }
    try writer.merge(with: Hub.scripted(first) { served.answer($0, at: clock) }.hub)
    let (hub, _) = try Hub.scripted(served.membership(beside: first)) { request in
      let refuses = isBusy.withLock { isBusy in
        isBusy.toggle()
        return isBusy
      }
      return refuses ? refusal : served.answer(request, at: clock)
    }
    #expect(try HubSync(Device.inMemory(clock: clock), hub.channel(), pageSize: 1).run())
  }

  @Test func aMergeDoesNotWaitForLong() throws {
    #expect(try sync(after: [busy(11)])?.retryAfter == .seconds(11))
    let away = Reply.problem(503, "unavailable", "no disk", ["retry-after": "1"])
    #expect(try sync(after: [away])?.retryAfter == .seconds(1))
    #expect(try sync(after: [.problem(429, "too-many", "x")])?.code == .unavailable)
    #expect(Array(made.sets.joined()) == [])
  }

  /// Listens by requests that are answered late, to these answers, each after so many seconds.
  ///
  /// - Parameters:
  ///   - stream: the answer to the request for a stream: none if a proxy keeps it back.
  ///   - wait: how many seconds the hub is asked to wait.
  private func poll(
    _ answers: [(seq: Int, seconds: Int)], after stream: Reply = Reply([]), wait: Int = 25
  ) throws -> (pauses: [Duration], events: [String]) {
    let (start, made) = (ContinuousClock.now, Collected<Duration>())
    let left = Mutex(answers[...])
    let time = Mutex(Duration.zero)
    let events = Mutex<[String]>([])
    let transport = ScriptedTransport { request in
      guard let query = request.url.query else { return stream }
      #expect(query.hasSuffix("&wait=\(wait)"))
      guard let answer = left.withLock({ $0.popFirst() }) else {
        return Reply([], fault: .failed("no network"))
      }
      time.withLock { $0 += .seconds(answer.seconds) }
      return Reply(200, #"{"newest":"\#(answer.seq)-0"}"#, type: "application/json")
    }
    let hub = try Hub(
      HubURL("https://hub.example"), .test, by: transport,
      now: { start + time.withLock { $0 } })
    let listener = SessionLoop.Listener { _ in
    } onEvent: {
    } pause: {
      made.append([$0])
    } chance: {
      1
    }
    let stream = EventStream(hub, listener) { newest in events.withLock { $0.append(newest) } }
    #expect(throws: KeepsakeError.self) { try stream.listen() }
    return (Array(made.sets.joined()), events.withLock { $0 })
  }

  @Test func aHubThatAnswersAtOnceAgainAndAgainIsAskedLessAndLessOften() throws {
    let (pauses, events) = try poll(Array(repeating: (7, 0), count: 9))
    #expect(pauses == [1, 2, 4, 8, 16, 25, 25, 25].map { .seconds($0) })
    #expect(events == ["7-0"])
  }

  /// A poll that waits counts as a stream.
  @Test func aDeviceWithTooManyStreamsPollsWithoutWaiting() throws {
    let refusal = Reply.problem(
      429, "too-many", "5 streams", ["retry-after": "60"], more: #","limit":"streams","value":5"#)
    let (pauses, events) = try poll([(7, 0), (7, 0), (8, 0)], after: refusal, wait: 0)
    #expect(pauses == [.seconds(1), .seconds(1)])
    #expect(events == ["7-0", "8-0"])
  }

  @Test func newsAreHeardASecondLaterAtMost() throws {
    let (pauses, events) = try poll([(1, 0), (2, 0), (3, 0), (4, 0), (5, 20), (6, 0), (7, 0)])
    #expect(pauses == Array(repeating: .seconds(1), count: 4))
    #expect(events == (1...7).map { "\($0)-0" })
  }

  @Test func aHubThatWaitsIsAskedAgainAtOnce() throws {
    #expect(try poll(Array(repeating: (7, 25), count: 9)).pauses == [])
  }
}
