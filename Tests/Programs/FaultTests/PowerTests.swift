// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct PowerTests {
  @Test(arguments: Seeds.list(3, debug: 1))
  func whatIsSynchronizedOutlivesThePowerAndTheRestIsLostFromItsEnd(seed: UInt64) throws {
    let cuts = Seeds.rounds(50, debug: 15)
    let output = try probe("power", "--seed", "\(seed)", "--cuts", "\(cuts)", "--each", "25")
    #expect(output.contains(/\d{4,} events: nothing was lost\n$/), "\(output)")
  }

  @Test func aSeedDoesTheSameAgain() throws {
    let run = { try probe("power", "--seed", "11", "--cuts", "1") }
    #expect(try run() == run())
  }
}
