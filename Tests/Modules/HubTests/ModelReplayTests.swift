// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
import KeepsakeHubServer
import TestSupport
import Testing

@Suite struct ModelReplayTests {
  @Test(arguments: [(marks: 1_000, pages: 1_000_000), (marks: 3, pages: 2), (marks: 2, pages: 1)])
  func theRulesAnswerAsTheModel(marks: Int, pages: Int) async throws {
    let count = try await ModelReplay.play(
      on: MemoryStore(), seed: 1, histories: Seeds.rounds(200, debug: 20), marks: marks,
      pages: pages)
    #expect(count > 500)
  }
}
