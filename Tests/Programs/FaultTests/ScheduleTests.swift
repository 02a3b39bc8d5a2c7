// SPDX-License-Identifier: Apache-2.0
//
// Several processes and threads at once, in an order that a seed decides. See
// `keepsake-probe schedule --help`.

import KeepsakeDevice
import TestSupport
import Testing

@Suite struct ScheduleTests {
  private static let ours = [
    "checkpoint", "merge-merge", "merge-compact", "merge-writers", "migration-open", "threads",
  ]

  private func play(_ words: String...) throws -> Ending {
    try Command.runProbe(["schedule"] + words)
  }

  /// These lose commits where SQLite has the WAL-reset bug, with a seed that does with 3.40.1.
  private static let unsafe: [(String, UInt64)] = [
    ("sqlite", 4_449_830_046_629_988_059), ("unguarded", 12_807_144_164_152_458_454),
  ]

  @Test(arguments: Seeds.some(of: unsafe.map(\.0) + ours, debug: 3))
  func oneSeedGivesOneSchedule(_ scenario: String) throws {
    let words = [scenario, "--seed", "1", "--schedules", "3", "--trace"]
    let courses = try (0..<2).map { _ in
      try Command.runProbe(["schedule"] + words)
    }
    #expect(courses[0] == courses[1] && courses[0].code == 0)
    #expect(Set(courses[0].stdout.split(separator: "\n")).count == 5, "\(courses[0])")
  }

  /// `unguarded` is what `checkpoint` would be without the write lock.
  @Test(.enabled(if: SQLiteVersion.hasResetBug, "this SQLite has no such bug"), arguments: unsafe)
  func theSchedulerFindsSQLitesResetBug(_ scenario: String, seed: UInt64) throws {
    let ending = try play(scenario, "--seed", "\(seed)", "--schedules", "2000")
    #expect(ending.code == 1)
    #expect(ending.stdout.contains(/acknowledged commits \d+ are there/), "\(ending)")
  }

  @Test(arguments: ours)
  func noScheduleLosesAnything(_ scenario: String) throws {
    for seed in Seeds.list(1) {
      let schedules = Seeds.rounds(60, debug: 2)
      let ending = try play(scenario, "--seed", "\(seed)", "--schedules", "\(schedules)")
      #expect(ending.code == 0, "\(ending)")
    }
  }
}
