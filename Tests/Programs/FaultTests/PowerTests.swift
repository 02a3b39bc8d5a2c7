// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct PowerTests {
  @Test(arguments: Seeds.rounds(1...3, debug: 1...1))
  func whatIsSynchronizedOutlivesThePowerAndTheRestIsLostFromItsEnd(seed: Int) throws {
    let output = try probe("power", "--seed", "\(seed)", "--cuts", "50", "--each", "25")
    #expect(output.contains(/50 cuts in \d{4,} events: nothing was lost\n$/), "\(output)")
  }

  @Test func aSeedDoesTheSameAgain() throws {
    let run = { try probe("power", "--seed", "11", "--cuts", "1") }
    #expect(try run() == run())
  }
}
