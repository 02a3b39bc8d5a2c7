// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `keepsake-probe fail` without `--every` lets every call fail, which takes minutes.
@Suite struct FailTests {
  @Test(arguments: [
    ("creation", 23), ("set", 2), ("group", 2), ("transaction", 9), ("seed", 7),
    ("migration", 29), ("merge", 71), ("compaction", 67), ("backup", 23), ("clone", 29),
    ("restoration", 23), ("recovery", 37), ("sound-recovery", 7),
  ])
  func whatFailsLosesNothingAndSucceedsAgain(scenario: String, step: Int) throws {
    let step = Seeds.rounds(step, debug: 15 * step)
    let output = try probe("fail", scenario, "--every", "\(step)")
    let counts = try #require(
      output.wholeMatch(of: /[-a-z]+: (\d+) calls, (\d+) faults, (\d+) errors\n/), "\(output)")
    let least = Seeds.rounds(4, debug: 1)
    for count in [counts.1, counts.2, counts.3] {
      #expect(Int(count) ?? 0 >= least, "\(output)")
    }
  }
}
