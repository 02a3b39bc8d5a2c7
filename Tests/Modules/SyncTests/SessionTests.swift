// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSessions
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct SessionTests {
  private func wait(_ signal: DispatchSemaphore) -> Bool {
    signal.wait(timeout: .now() + 20) == .success
  }

  @Test func aSessionBringsEachWriteAcrossAndThenWritesNothing() async throws {
    let clock = ManualClock()
    let (a, b) = (
      try Device.temporary(clock: clock.wallClock), try Device.temporary(clock: clock.wallClock)
    )
    let merges = Atomic(0)
    let arrived = DispatchSemaphore(value: 0)
    var options = MergeOptions()
    options.onProgress = { _ in merges.add(1, ordering: .relaxed) }
    let session = SyncSession(a, b, options: options) { report in
      for _ in report.changes { arrived.signal() }
    } onFailure: {
      Issue.record($0)
    }
    for number in 0..<5 {
      clock.milliseconds += 1
      try (number % 2 == 0 ? a : b).write([
        LocalWrite(store: "cloud", key: "k\(number)", value: 1)
      ])
      #expect(wait(arrived))
    }
    await session.finish()
    #expect(try Difference.all(a, b, stores: nil).isEmpty)
    // Each write wakes it, and what a merge has written once more; two directions each.
    #expect(merges.load(ordering: .relaxed) <= 2 * 2 * (5 + 1) + 4)
    #expect(try a.merge(with: b).transfers.allSatisfy { $0.received == 0 })
  }

  @Test func aSyncThatIsSkippedLeavesWhatIsDue() {
    var plan = SessionPlan()
    plan.beginSync(at: 0)
    plan.endSync(due: 70)
    plan.beginListening()
    plan.hear()
    #expect(plan.next(at: 10) == .sync && !plan.isDue(at: 10))
    // The event is that of its own push.
    plan.beginSync(at: 10)
    #expect(plan.next(at: 10) == .wait(until: 70))
    #expect(plan.next(at: 70) == .sync && plan.isDue(at: 70))
  }

  /// As by a proxy that cuts each stream after ten seconds.
  @Test(arguments: [(10, 1), (70, 3)])
  func theEndOfAShortStreamIsReportedOnce(seconds: Int64, reports: Int) async throws {
    let clock = ManualClock()
    let device = try Device.inMemory(clock: clock)
    let report = try device.merge(with: Device.inMemory(clock: clock))
    let streams = Atomic(0)
    let failures = Atomic(0)
    let (done, stop) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    var work = SessionLoop.Work([device]) { () throws(KeepsakeError) in
      report
    } onReport: { _ in
    } onFailure: { _ in
      failures.add(1, ordering: .relaxed)
    }
    work.listen = { listener in
      listener.onEvent()
      clock.milliseconds += seconds * 1_000
      if streams.add(1, ordering: .relaxed).newValue > 3 {
        listener.onBegin { stop.signal() }
        done.signal()
        stop.wait()
      }
      return KeepsakeError(.unreachable, path: "hub", "it has hung up", cure: "wait")
    }
    let timing = SessionTiming(
      now: { clock.milliseconds },
      wait: { signal, milliseconds in
        guard let milliseconds else { return signal.wait() }
        clock.milliseconds += milliseconds
      }, chance: { 1 })
    let loop = SessionLoop(work, timing: timing)
    loop.start()
    #expect(wait(done))
    #expect(failures.load(ordering: .relaxed) == reports)
    await loop.finish()
  }

  /// As a row does that the hub takes for one of the future, though this device's clock, which is
  /// an hour ahead, does not.
  @Test(arguments: [1_000, 0])
  func aRowThatWaitsForAnotherClockIsTriedOnceAMinute(changeLimit: Int) async throws {
    let clock = ManualClock()
    let device = try Device.inMemory(clock: clock)
    let ahead = ManualClock()
    ahead.milliseconds = clock.milliseconds + 3_600_000
    let other = try Device.inMemory(clock: ahead)
    try other.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    let options = MergeOptions(changeLimit: changeLimit)
    let report = try device.merge(with: other, options: options)
    #expect(report.waiting.count == min(changeLimit, 1))
    clock.milliseconds = ahead.milliseconds
    let pauses = Mutex<[Int64]>([])
    let done = DispatchSemaphore(value: 0)
    let work = SessionLoop.Work([device]) { () throws(KeepsakeError) in
      report
    } onReport: { _ in
    } onFailure: {
      Issue.record($0)
    }
    let timing = SessionTiming(
      now: { clock.milliseconds },
      wait: { signal, milliseconds in
        let count = pauses.withLock { pauses in
          pauses.append(milliseconds ?? 0)
          return pauses.count
        }
        clock.milliseconds += milliseconds ?? 0
        guard count == 3 else { return }
        done.signal()
        signal.wait()
      }, chance: { 1 })
    let loop = SessionLoop(work, timing: timing)
    loop.start()
    #expect(wait(done))
    await loop.finish()
    #expect(pauses.withLock(\.self) == [60_000, 60_000, 60_000])
  }
}
