// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport

extension Device {
  /// A device that does the same at each run: its identity and its clock are known, and no
  /// checkpoint runs on a thread of its own, which takes no turns.
  convenience init(
    scheduled path: String, _ identity: Int64, _ time: Double = 0,
    hooks: OpeningHooks = OpeningHooks()
  ) throws {
    let clock = WallClock.fixed(Date(timeIntervalSince1970: 1_790_000_000 + time))
    try self.init(
      path: path, access: .create, busyTimeout: .seconds(60), clock: clock, folder: nil,
      identity: ReplicaID(rawValue: identity), hooks: hooks)
    storageForTests.checkpoints?.limit(to: .max / 8)
  }
}

extension ScheduledScenario {
  package static let all = [
    sqlite, checkpoint, unguarded, mergeMerge, mergeCompact, mergeWriters, migrationOpen, threads,
  ]

  private static let keys = 4

  /// Two devices that have met, and have each written since: keys of their own, and one that both
  /// wrote. `a` has deleted a key that both have read.
  private static func pair(_ folder: String) throws {
    let (a, b) = (try open(folder, "a"), try open(folder, "b"))
    try a.set("gone", 1)
    try a.merge(with: b)
    try a.set("gone", nil)
    try a.merge(with: b)
    for (device, name) in [(a, "a"), (b, "b")] {
      for number in 0..<keys { try device.set("\(name)/\(number)", .string(name)) }
      try device.set("both", .string(name))
    }
  }

  private static func open(_ folder: String, _ name: String, at time: Double = 0) throws -> Device {
    try Device(scheduled: "\(folder)/\(name)", name == "a" ? 1 : 2, time)
  }

  /// Both are whole and agree after one more merge, on everything that was written.
  private static func checkPair(
    _ folder: String, wrote writes: [(key: String, value: StoredValue)] = []
  ) throws {
    let (a, b) = (try open(folder, "a"), try open(folder, "b"))
    for device in [a, b] { try device.checkIntegrity() }
    guard try a.merge(with: b).hasConverged else { throw ScheduleFailure("they do not agree") }
    let own = ["a", "b"].flatMap { name in
      (0..<keys).map { (key: "\(name)/\($0)", value: StoredValue.string(name)) }
    }
    for device in [a, b] {
      for (key, value) in own + [("both", .string("b"))] + writes {
        guard try device.value(key) == value else {
          throw ScheduleFailure("\(key) is lost in \(device.path)")
        }
      }
      guard try device.value("gone") == nil else { throw ScheduleFailure("a deletion is lost") }
      let findings = try device.examine().filter { $0.kind != .leftover }
      guard findings.isEmpty else { throw ScheduleFailure("doctor finds \(findings)") }
    }
    guard try a.conflicts().count + b.conflicts().count == 1 else {
      throw ScheduleFailure("the one conflict is logged otherwise than once")
    }
  }

  package static let mergeMerge = ScheduledScenario(
    name: "merge-merge", summary: "two processes merge one pair, each from its side", steps: 1000,
    prepare: pair,
    actors: [
      { _, folder in try open(folder, "a").merge(with: open(folder, "b")) },
      { _, folder in try open(folder, "b").merge(with: open(folder, "a")) },
    ],
    check: { folder, _ in try checkPair(folder) })

  package static let mergeCompact = ScheduledScenario(
    name: "merge-compact", summary: "one merges a pair, others collect its tombstones",
    steps: 1500, prepare: pair,
    actors: [
      { _, folder in try open(folder, "a").merge(with: open(folder, "b")) },
      { _, folder in try open(folder, "a", at: 9_000_000).compact() },
      { _, folder in try open(folder, "b", at: 9_000_000).compact() },
    ],
    check: { folder, _ in try checkPair(folder) })

  package static let mergeWriters = ScheduledScenario(
    name: "merge-writers", summary: "one merges a pair, to which two others write", steps: 800,
    prepare: pair,
    actors: [{ _, folder in try open(folder, "a").merge(with: open(folder, "b")) }]
      + ["a", "b"].map { name in
        { acknowledge, folder in
          let device = try open(folder, name)
          for number in 0..<keys {
            try device.set("new \(name)/\(number)", .integer(Int64(number)))
            acknowledge(number + 1)
          }
        }
      },
    check: { folder, acknowledged in
      let writes = zip(["a", "b"], acknowledged.dropFirst()).flatMap { name, count in
        (0..<count).map { ("new \(name)/\($0)", StoredValue.integer(Int64($0))) }
      }
      try checkPair(folder, wrote: writes)
    })

  package static let migrationOpen = ScheduledScenario(
    name: "migration-open", summary: "three migrate a file, and write to it", steps: 250,
    prepare: { folder in _ = try Device(scheduled: folder + "/file", 1) },
    actors: (0..<3).map { number in
      { acknowledge, folder in
        try Device(scheduled: folder + "/file", 1, hooks: LaterVersion.hooks)
          .set("new/\(number)", 1)
        acknowledge(1)
      }
    },
    check: { folder, acknowledged in
      let device = try Device(scheduled: folder + "/file", 1, hooks: LaterVersion.hooks)
      try device.checkIntegrity()
      for number in acknowledged.indices {
        guard try device.value("new/\(number)") == 1 else {
          throw ScheduleFailure("what process \(number) wrote is lost")
        }
      }
    })
}
