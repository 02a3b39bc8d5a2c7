// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSessions
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct SessionPlanTests {
  private func error(_ code: KeepsakeError.Code) -> KeepsakeError {
    KeepsakeError(code, path: "hub", "x", cure: "y")
  }

  @Test func itSyncsListensAndSyncsAgainForEachChange() {
    var plan = SessionPlan()
    #expect(plan.next(at: 0) == .sync)
    plan.beginSync(at: 0)
    plan.endSync(due: nil)
    #expect(plan.next(at: 0) == .listen)
    plan.beginListening()
    #expect(plan.next(at: 0) == .wait(until: nil))
    plan.change()
    #expect(plan.next(at: 0) == .sync)
    plan.beginSync(at: 0)
    // During the sync, so after what it has read.
    plan.hear()
    plan.endSync(due: 70)
    #expect(plan.next(at: 0) == .sync)
    plan.beginSync(at: 0)
    plan.endSync(due: 70)
    #expect(plan.next(at: 69) == .wait(until: 70))
    #expect(plan.next(at: 70) == .sync)
  }

  @Test func pausesDoubleUpToFiveMinutesAndEndWithTheFirstEvent() {
    var plan = SessionPlan()
    var pauses: [Int64] = []
    for _ in 0..<12 {
      plan.beginSync(at: 0)
      plan.fail(error(.unreachable), at: 1000, chance: 1)
      pauses.append((plan.pauseEnd ?? 0) - 1000)
    }
    #expect(pauses.prefix(4) == [1000, 2000, 4000, 8000])
    #expect(pauses.suffix(3) == [300_000, 300_000, 300_000])
    // A write does not shorten a pause, and the end of one leads to a sync.
    plan.change()
    #expect(plan.next(at: 300_999) == .wait(until: 301_000))
    #expect(plan.next(at: 301_000) == .sync)
    plan.beginSync(at: 0)
    plan.endSync(due: nil)
    plan.hear()
    plan.beginSync(at: 0)
    plan.fail(error(.unreachable), at: 0, chance: 0)
    #expect(plan.pauseEnd == 500)
  }

  @Test func aHubThatAsksForAPauseGetsIt() {
    var plan = SessionPlan()
    plan.beginSync(at: 0)
    plan.fail(error(.unavailable), at: 10, chance: 0, asked: .seconds(90))
    #expect(plan.next(at: 90_009) == .wait(until: 90_010))
    // Another failure meanwhile, of the events.
    plan.fail(error(.unreachable), at: 20, chance: 0)
    #expect(plan.next(at: 90_009) == .wait(until: 90_010))
  }

  @Test func failedEventsStopNoSyncUnlessTheHubAsksForAPause() {
    var plan = SessionPlan()
    plan.beginSync(at: 0)
    plan.endSync(due: nil)
    plan.beginListening()
    plan.endListening(error(.unreachable), at: 0, chance: 1)
    #expect(plan.next(at: 0) == .sync)
    plan.beginSync(at: 0)
    plan.endSync(due: nil)
    #expect(plan.next(at: 999) == .wait(until: 1000))
    plan.change()
    #expect(plan.next(at: 999) == .sync)
    plan.beginSync(at: 0)
    plan.endSync(due: nil)
    #expect(plan.next(at: 1000) == .listen)
    plan.beginListening()
    plan.endListening(error(.unavailable), at: 1000, chance: 0, asked: .seconds(90))
    #expect(plan.next(at: 90_999) == .wait(until: 91_000))
  }

  @Test func aDeviceThatWritesInALoopIsSyncedFiveTimesASecond() {
    var plan = SessionPlan()
    var starts: [Int64] = []
    for now in 0..<Int64(3_000) {
      plan.change()
      guard plan.next(at: now) == .sync else { continue }
      starts.append(now)
      plan.beginSync(at: now)
      plan.endSync(due: nil)
    }
    #expect(starts.count == 15)
    // The first ones do not wait.
    #expect(starts.prefix(6) == [0, 1, 2, 3, 4, 1_000])
  }

  @Test func aSessionOfFilesListensToNothingAndIsNeverRefused() {
    var plan = SessionPlan(hasEvents: false)
    plan.beginSync(at: 0)
    plan.fail(error(.readOnly), at: 0, chance: 1)
    #expect(plan.next(at: 0) == .wait(until: 1_000))
    #expect(plan.next(at: 1_000) == .sync)
    plan.beginSync(at: 1_000)
    plan.endSync(due: nil)
    #expect(plan.next(at: 1_000) == .wait(until: nil))
  }

  @Test(arguments: [KeepsakeError.Code.unauthorized, .incompatible, .invalidValue])
  func whatDoesNotGoAwayEndsIt(code: KeepsakeError.Code) {
    var plan = SessionPlan()
    plan.beginSync(at: 0)
    plan.fail(error(code), at: 0, chance: 0)
    #expect(plan.next(at: .max) == .stop)
  }

  @Test(arguments: [KeepsakeError.Code.full, .malformed, .locked, .diskFull, .tooLarge])
  func whatMayGoAwayIsTriedAgain(code: KeepsakeError.Code) {
    var plan = SessionPlan()
    plan.beginSync(at: 0)
    plan.fail(error(code), at: 0, chance: 0)
    #expect(plan.next(at: 500) == .sync)
  }
}

@Suite struct HubSessionTests {
  typealias Reply = ScriptedTransport.Reply

  /// Events that are never silent, so that no thread waits: one, and then the hub hangs up.
  private func stream(_ seq: Int) -> Reply {
    Reply(200, "data: {\"newest\":\"\(seq)-0\"}\n\n", type: "text/event-stream")
  }

  private func waitAtOnce(_ clock: ManualClock) -> SessionTiming {
    SessionTiming(
      now: { clock.milliseconds },
      wait: { signal, milliseconds in
        guard let milliseconds else { return signal.wait() }
        clock.milliseconds += milliseconds
      }, chance: { 1 })
  }

  private func session(
    _ hub: Hub, _ clock: ManualClock, _ onState: @escaping @Sendable (SessionState) -> Void
  ) throws -> HubSession {
    HubSession(
      try Device.inMemory(clock: clock), hub, MergeOptions(), waitAtOnce(clock), onState: onState
    ) { _ in
    } onFailure: { _ in
    }
  }

  @Test func aSessionReachesAHubThatWasAwayAndTellsItsStates() throws {
    let (clock, served) = (ManualClock(), ServedHub())
    let failures = Mutex(3)
    let (hub, _) = try Hub.scripted(served.membership()) { request in
      let isAway = failures.withLock { left in
        defer { left = max(0, left - 1) }
        return left > 0
      }
      if isAway { return Reply([], fault: .failed("no network")) }
      return request.url.path.hasSuffix("/rows")
        ? served.answer(request, at: clock) : self.stream(1)
    }
    let device = try Device.inMemory(clock: clock)
    try device.write([LocalWrite(store: "cloud", key: "theme", value: .string("dark"))])
    let states = Mutex<[String]>([])
    let errors = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    let session = HubSession(device, hub, MergeOptions(), waitAtOnce(clock)) { state in
      let name = "\(state)".prefix { $0 != "(" }
      states.withLock { $0.append(String(name)) }
      if case .connected = state { done.signal() }
    } onSync: { _ in
    } onFailure: { error in
      errors.withLock { $0.append(error.problem) }
    }
    defer { session.cancel() }
    #expect(done.wait(timeout: .now() + 60) == .success)
    let told = states.withLock { Array($0.prefix(8)) }
    #expect(
      told == [
        "connecting", "waiting", "connecting", "waiting", "connecting", "waiting", "connecting",
        "connected",
      ])
    // Once for as long as it is the same.
    #expect(errors.withLock { $0.first } == "it cannot be reached (no network)")
    #expect(errors.withLock { $0.count { $0.contains("no network") } } == 1)
  }

  @Test func aSessionWaitsForAsLongAsABusyHubAsksFor() throws {
    let (clock, served) = (ManualClock(), ServedHub())
    let times = Mutex<[Int64]>([])
    let (hub, _) = try Hub.scripted(served.membership()) { request in
      guard request.url.path.hasSuffix("/rows") else { return self.stream(1) }
      let isFirst = times.withLock { times in
        times.append(clock.milliseconds)
        return times.count == 1
      }
      return isFirst
        ? .problem(429, "too-many", "too much", ["retry-after": "90"])
        : served.answer(request, at: clock)
    }
    let done = DispatchSemaphore(value: 0)
    let session = try session(hub, clock) { if case .connected = $0 { done.signal() } }
    defer { session.cancel() }
    #expect(done.wait(timeout: .now() + 60) == .success)
    let two = times.withLock { Array($0.prefix(2)) }
    #expect(two[1] - two[0] >= 90_000)
  }

  /// Signals when it is released.
  private final class Last: Sendable {
    private let end: DispatchSemaphore
    init(_ end: DispatchSemaphore) { self.end = end }
    deinit { end.signal() }
  }

  private func session(
    _ hub: Hub, _ timing: SessionTiming, _ last: Last, pass: @escaping @Sendable () -> Void
  ) throws -> HubSession {
    HubSession(try Device.inMemory(), hub, MergeOptions(), timing) { _ in
      withExtendedLifetime(last, pass)
    } onSync: { _ in
      pass()
    } onFailure: { _ in
      pass()
    }
  }

  /// Within a request, a state, a report or a pause.
  @Test(arguments: 1...8)
  func aSessionThatIsCancelledAnywhereEnds(place: Int) throws {
    let (clock, served) = (ManualClock(), ServedHub())
    let (reached, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = DispatchSemaphore(value: 0)
    let points = Atomic(0)
    let pass: @Sendable () -> Void = {
      guard points.add(1, ordering: .relaxed).newValue == place else { return }
      reached.signal()
      goesOn.wait()
    }
    let (hub, _) = try Hub.scripted(served.membership()) { request in
      pass()
      return request.url.path.hasSuffix("/rows")
        ? served.answer(request, at: clock) : self.stream(1)
    }
    var timing = waitAtOnce(clock)
    timing.wait = { [wait = timing.wait] signal, milliseconds in
      pass()
      wait(signal, milliseconds)
    }
    var running: HubSession? = try session(hub, timing, Last(ended), pass: pass)
    #expect(reached.wait(timeout: .now() + 60) == .success)
    running?.cancel()
    goesOn.signal()
    running = nil
    // No thread has it any more.
    #expect(ended.wait(timeout: .now() + 60) == .success)
  }

  @Test func aRevokedTokenEndsTheSession() throws {
    let (hub, transport) = try Hub.scripted { _ in .problem(401, "token", "unknown") }
    let clock = ManualClock()
    let done = DispatchSemaphore(value: 0)
    let session = try session(hub, clock) { if case .refused = $0 { done.signal() } }
    #expect(done.wait(timeout: .now() + 60) == .success)
    guard case .refused(let error) = session.state else { throw error(session.state) }
    #expect(error.code == .unauthorized && transport.requests.count == 1)
  }

  private func error(_ state: SessionState) -> Command.Missing {
    Command.Missing(description: "\(state)")
  }
}
