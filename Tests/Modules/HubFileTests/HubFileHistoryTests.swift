// SPDX-License-Identifier: Apache-2.0

import Histories
import TestSupport
import Testing

@Suite struct HubFileHistoryTests {
  /// Every answer, and every row after it, as of a hub in memory.
  @Test(arguments: Seeds.list(60, debug: 8))
  func anyHistoryWithAHubOverAFileGoesAsTheOracleSays(seed: UInt64) throws {
    let history = History(seed: seed, storage: .memory, hasHub: true)
    do {
      try history.play(on: HubFileKeeper.hub)
    } catch {
      Issue.record("Scripts/soak --hub --file --histories 1 --seed \(seed): \(error)")
    }
  }
}
