// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `Scripts/soak kills` plays more rounds.
@Suite struct KillRoundTests {
  @Test(arguments: Seeds.list(3, debug: 1))
  func whatWasAcknowledgedOutlivesAKillInTheMiddleOfAnyWork(seed: UInt64) throws {
    let rounds = Seeds.rounds(24, debug: 8)
    let words = ["kills", "--seed", "\(seed)", "--rounds", "\(rounds)"]
    let ending = try Command.runProbe(words)
    // It also fails when too few kills were inside.
    #expect(ending.code == 0 && ending.stdout.contains("killed inside"), "\(ending)")
  }
}
