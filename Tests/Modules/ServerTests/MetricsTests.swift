// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import Keepsake
  import KeepsakeServer
  import KeepsakeTesting
  import Logging
  import MetricsTestKit
  import Synchronization
  import TestSupport
  import Testing

  @Suite struct MetricsTests {
    private let recorded = TestMetrics()

    /// What was counted, by metric and labels; the number of recordings of a timer.
    private var counts: [String: Int64] {
      func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        label.dropFirst("keepsake_".count) + dimensions.map { "{\($0.0)=\($0.1)}" }.joined()
      }
      var counts: [String: Int64] = [:]
      for counter in recorded.counters {
        counts[name(counter.label, counter.dimensions)] = counter.totalValue
      }
      for timer in recorded.timers {
        #expect(timer.values.allSatisfy { $0 > 0 })
        counts[name(timer.label, timer.dimensions)] = Int64(timer.values.count)
      }
      return counts
    }

    /// All metrics without failures, of which so many are not zero.
    private func all(_ counts: [String: Int64]) -> [String: Int64] {
      let zero: [String: Int64] = [
        "writes_total": 0, "merges_total": 0, "conflicts_total": 0, "waiting_entries_total": 0,
        "set_seconds": 0, "merge_seconds": 0,
      ]
      return zero.merging(counts) { $1 }
    }

    private struct TakenBack: Error {}

    /// What a history of writes is to be counted as.
    private struct Oracle {
      var writes: Int64 = 0
      var sets: Int64 = 0
      var failures: [String: Int64] = [:]

      var counts: [String: Int64] {
        var counts = ["writes_total": writes, "set_seconds": sets]
        for (reason, count) in failures {
          counts["write_failures_total{reason=\(reason)}"] = count
        }
        return counts
      }
    }

    @Test(arguments: Seeds.list(20))
    func everyWriteIsCountedOnce(seed: UInt64) throws {
      let device = try Device.inMemory()
      let metrics = DeviceMetrics(device, factory: recorded)
      var generator = SeededGenerator(seed: seed)
      let stores: [SettingsStore] = [
        try UserDefaultsStore(on: device, arguments: .none), try CloudKeyValueStore(on: device),
      ]
      var oracle = Oracle()
      /// - Returns: how many writes it has made.
      func set(within: Bool) -> Int64 {
        let store = stores[Int.random(in: 0..<2, using: &generator)]
        let key = generator.chance(20) ? "" : "k\(Int.random(in: 0..<4, using: &generator))"
        // Often equal to what is there.
        let value = generator.chance(20) ? nil : StoredValue.integer(generator.chance(50) ? 1 : 2)
        if !within { oracle.sets += 1 }
        do {
          try store.write(value, for: key)
          return 1
        } catch {
          oracle.failures["invalidKey", default: 0] += 1
          return 0
        }
      }
      /// - Returns: how many writes it has made.
      func transact(_ depth: Int) throws -> Int64 {
        var made: Int64 = 0
        try device.transaction {
          for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            if depth < 2, generator.chance(30) {
              do { made += try transact(depth + 1) } catch is TakenBack {}
            } else {
              made += set(within: true)
            }
          }
          if generator.chance(30) { throw TakenBack() }
        }
        return made
      }
      for _ in 0..<60 {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
          let count = oracle.sets
          device.whileWritesFailIgnoringErrors { stores[0]["k"] = .integer(count) }
          oracle.sets += 1
          oracle.failures["permissionDenied", default: 0] += 1
        case 1...4:
          do { oracle.writes += try transact(0) } catch is TakenBack {}
        default: oracle.writes += set(within: false)
        }
      }
      #expect(counts == all(oracle.counts), "seed \(seed)")
      withExtendedLifetime(metrics) {}
    }

    @Test func writesOfThreadsThatShareCommitsAreCountedOnce() async throws {
      let device = try Device.temporary()
      let metrics = DeviceMetrics(device, factory: recorded)
      let store = try CloudKeyValueStore(
        on: device, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for number in 0..<50 {
              store[number.isMultiple(of: 10) ? "" : "k\(task)"] = .integer(Int64(number))
            }
          }
        }
      }
      #expect(
        counts
          == all([
            "writes_total": 360, "set_seconds": 400, "write_failures_total{reason=invalidKey}": 40,
          ]))
      withExtendedLifetime(metrics) {}
    }

    @Test func aFailureIsCountedOnceThoughItIsReportedTwice() throws {
      let folder = try Folder()
      let device = try Device(path: folder.path + "/device", busyTimeout: .milliseconds(10))
      let metrics = DeviceMetrics(device, factory: recorded)
      let store = try CloudKeyValueStore(on: device)
      // The setter has failed, and the transaction throws it.
      #expect(throws: KeepsakeError.self) {
        try device.transaction {
          store["a"] = 1
          store[""] = 1
        }
      }
      let reader = try Device(path: device.path, access: .readOnly)
      #expect(throws: KeepsakeError.self) {
        try CloudKeyValueStore(on: reader).write(1, for: "a")
      }
      // The transaction itself has failed.
      let locker = try Locker(URL(fileURLWithPath: device.path), ["BEGIN IMMEDIATE"])
      #expect(throws: KeepsakeError.self) { try device.transaction { store["a"] = 1 } }
      #expect(throws: KeepsakeError.self) { try device.transaction {} }
      try locker.release()
      #expect(
        counts
          == all([
            "set_seconds": 1, "write_failures_total{reason=invalidKey}": 1,
            "write_failures_total{reason=readOnly}": 1, "write_failures_total{reason=locked}": 2,
          ]))
      withExtendedLifetime(metrics) {}
    }

    // MARK: - Merges

    @Test func mergesConflictsAndHeldEntriesAreCountedWhereTheyAre() throws {
      let clock = ManualClock()
      let (here, there) = (try Device.inMemory(clock: clock), try Device.inMemory(clock: clock))
      let (mine, others) = (try CloudKeyValueStore(on: here), try CloudKeyValueStore(on: there))
      let metrics = [("here", here), ("there", there)].map {
        DeviceMetrics($1, name: $0, factory: recorded)
      }
      try here.merge(with: there)
      for number in 0..<5 {
        mine["k\(number)"] = 1
        others["k\(number)"] = 2
      }
      others["alone"] = 1
      try here.merge(with: there)
      // An hour ahead.
      clock.advance(by: .seconds(3600))
      for number in 0..<3 { mine["future\(number)"] = 1 }
      clock.advance(by: .seconds(-3600))
      // Each merge reads again what waits.
      try here.merge(with: there)
      try here.merge(with: there)
      // A merge that is not begun is none.
      try here.transaction {
        _ = #expect(throws: KeepsakeError.self) { try here.merge(with: there) }
      }
      let log = (try here.conflicts().count, try there.conflicts().count)
      #expect(log == (5, 0))
      func expected(_ name: String, _ counts: [String: Int64]) -> [String: Int64] {
        var named: [String: Int64] = [:]
        for (metric, count) in all(counts) {
          let parts = metric.split(separator: "{", maxSplits: 1)
          named[parts[0] + "{device=\(name)}" + parts.dropFirst().map { "{" + $0 }.joined()] =
            count
        }
        return named
      }
      let ofHere = expected(
        "here",
        [
          "writes_total": 8, "set_seconds": 8, "merges_total": 4, "merge_seconds": 4,
          "conflicts_total": 5,
        ])
      let ofThere = expected(
        "there",
        [
          "writes_total": 6, "set_seconds": 6, "merges_total": 4, "merge_seconds": 4,
          "waiting_entries_total": 6,
        ])
      #expect(counts == ofHere.merging(ofThere) { $0 + $1 })
      withExtendedLifetime(metrics) {}
    }

    @Test func countingEndsWithItsObjectAndSeesEveryHandle() throws {
      let device = try Device.temporary()
      let other = try Device(path: device.path, busyTimeout: .seconds(1))
      let store = try CloudKeyValueStore(on: other)
      var metrics: DeviceMetrics? = DeviceMetrics(device, factory: recorded)
      store["a"] = 1
      #expect(metrics != nil)
      metrics = nil
      store["a"] = 2
      #expect(counts == all(["writes_total": 1, "set_seconds": 1]))
    }
  }

  extension Device {
    /// For a setter, which reports what it cannot throw.
    fileprivate func whileWritesFailIgnoringErrors(_ body: () -> Void) {
      do { try whileWritesFail(body) } catch { Issue.record(error) }
    }
  }
#endif
