// SPDX-License-Identifier: Apache-2.0
//
// A merge that stops half-way, at each of its commits, or is disturbed there.

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

@Suite struct PartialMergeTests {
  /// Two devices of one identity, with keys of their own and some that both set.
  private final class Pair {
    let devices: [Device]
    let heard = [Heard(), Heard()]
    private var tokens: [ObservationToken] = []

    init() throws {
      let clock = ManualClock()
      devices = try (0..<2).map { _ in
        try Device.inMemory(identity: ReplicaID(rawValue: 5), clock: clock.wallClock)
      }
      for number in 0..<18 {
        clock.milliseconds += 1
        let key = number < 12 ? "k\(number)" : "both\(number / 2)"
        try devices[number % 2].write([
          LocalWrite(store: "cloud", key: key, value: .integer(Int64(number)))
        ])
      }
      for (device, heard) in zip(devices, heard) {
        tokens.append(heard.observe(device))
      }
    }

    func merge() throws -> MergeReport {
      return try Merge.run(devices, options: MergeOptions(chunkSize: 4))
    }

    func entries() throws -> [[String]] {
      try devices.map { device in
        var rows: [String] = []
        try device.forEachEntry { rows.append("\($0.address.key) \($0.content) \($0.timestamp)") }
        return rows
      }
    }
  }

  private func text(_ place: Int, _ change: SettingChange) -> String {
    "\(place) \(change.key): \(change.old as Any) -> \(change.new as Any)"
  }

  private func changes(_ reports: [MergeReport]) -> [String] {
    reports.flatMap(\.changes).map { text($0.into, $0.change) }
  }

  @Test func whicheverCommitFailsEverythingIsReportedOnceAndTheNextMergeDoesTheRest() throws {
    let whole = try Pair()
    let report = try whole.merge()
    #expect(report.events == [.newReplicaID(device: 1, reason: .copy)])
    let wanted = (changes([report]), try whole.entries())
    var (commits, partial) = (0, 0)
    while true {
      let pair = try Pair()
      let fuse = Fuse(commits)
      for device in pair.devices { try fuse.attach(to: device) }
      let first = Result { try pair.merge() }
      for device in pair.devices { try fuse.detach(from: device) }
      guard fuse.isBlown else { break }
      let error = #expect(throws: KeepsakeError.self) { try first.get() }
      let done = error?.mergeReport
      partial += done == nil ? 0 : 1
      let reports = [done, try pair.merge()].compactMap { $0 }
      #expect(changes(reports).sorted() == wanted.0.sorted(), "\(commits)")
      #expect(reports.flatMap(\.events) == [.newReplicaID(device: 1, reason: .copy)], "\(commits)")
      #expect(reports.last?.hasConverged == true, "\(commits)")
      #expect(try pair.entries() == wanted.1, "\(commits)")
      let heard = [0, 1].flatMap { place in
        pair.heard[place].sets.flatMap { $0 }.map { text(place, $0) }
      }
      #expect(heard.sorted() == wanted.0.sorted(), "\(commits)")
      commits += 1
    }
    #expect(commits > 8 && partial > 6)
  }

  @Test func anObserverOfAMergeMayWaitForAThreadThatMerges() throws {
    let pairs = try (0..<2).map { _ in try Pair() }
    let (isOver, others) = (Heard(), pairs[1].devices)
    let token = pairs[0].devices[1].observe { changes in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        #expect(throws: Never.self) { try others[0].merge(with: others[1]) }
        done.signal()
      }
      if done.wait(timeout: .now() + 30) == .success { isOver.append(changes) }
    } onFailure: {
      Issue.record($0)
    }
    _ = try pairs[0].merge()
    token.cancel()
    #expect(isOver.sets.count == pairs[0].heard[1].sets.count)
    #expect(isOver.sets.count > 1)
  }

  @Test func filesThatHaveReadTheFirstOneAtDifferentMarksHaveNotConverged() throws {
    let clock = ManualClock()
    let devices = try (0..<3).map { _ in try Device.inMemory(clock: clock.wallClock) }
    func write(_ key: String) throws(KeepsakeError) {
      clock.milliseconds += 1
      try devices[0].write([LocalWrite(store: "cloud", key: key, value: 1)])
    }
    try write("early")
    var isLate = false
    let hooks = MergeHooks { boundary in
      guard boundary == .pulledBack, !isLate else { return nil }
      isLate = true
      do throws(KeepsakeError) { try write("late") } catch { return error }
      return nil
    }
    let report = try Merge.run(devices, options: MergeOptions(), hooks: hooks)
    let late = try devices.map { try $0.entry(store: "cloud", key: "late") != nil }
    #expect(late == [true, false, true] && !report.hasConverged)
    #expect(try Merge.run(devices, options: MergeOptions()).hasConverged)
  }
}
