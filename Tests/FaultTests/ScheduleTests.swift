// SPDX-License-Identifier: Apache-2.0
//
// Several processes at once, in an order that a seed decides. More: `fault-probe schedule --help`.

import KeepsakeDevice
import TestSupport
import Testing

@Suite struct ScheduleTests {
  private static let ours = [
    "checkpoint", "merge-merge", "merge-compact", "merge-writers", "migration-open",
  ]

  private func play(_ words: String...) throws -> Ending {
    try Command.run(Command.built("fault-probe").get(), ["schedule"] + words)
  }

  @Test(arguments: ["sqlite"] + ours)
  func oneSeedGivesOneSchedule(_ scenario: String) throws {
    let words = [scenario, "--seed", "1", "--schedules", "3", "--trace"]
    let courses = try (0..<2).map { _ in
      try Command.run(Command.built("fault-probe").get(), ["schedule"] + words)
    }
    #expect(courses[0] == courses[1] && courses[0].code == 0)
    #expect(Set(courses[0].stdout.split(separator: "\n")).count == 5, "\(courses[0])")
  }

  @Test(.enabled(if: SQLiteVersion.hasResetBug, "this SQLite has no such bug"))
  func theSchedulerFindsSQLitesResetBug() throws {
    // With version 3.40.1 the first of these schedules does.
    let ending = try play("sqlite", "--seed", "7227128348212146145", "--schedules", "5000")
    #expect(ending.code == 1)
    #expect(ending.stdout.contains(/acknowledged commits \d+ are there/), "\(ending)")
  }

  @Test(arguments: ours)
  func noScheduleLosesAnything(_ scenario: String) throws {
    for seed in Seeds.list(1) {
      let ending = try play(scenario, "--seed", "\(seed)", "--schedules", "60")
      #expect(ending.code == 0, "\(ending)")
    }
  }
}
