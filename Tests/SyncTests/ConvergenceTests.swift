// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct ConvergenceTests {
  @Test(arguments: Seeds.list(60))
  func anyHistoryEndsWithEveryDeviceHoldingTheWinnersOfAllWrites(seed: UInt64) throws {
    let simulation = try Simulation(seed: seed)
    do {
      for _ in 0..<40 { try simulation.step() }
      try simulation.settle()
    } catch {
      Issue.record("seed \(seed): \(error)\n\(simulation.script.joined(separator: "\n"))")
    }
  }
}
