// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
import KeepsakeHubFile
import KeepsakeHubServer
import TestSupport
import Testing

@Suite struct FileReplayTests {
  @Test(arguments: [(marks: 1_000, pages: 3), (marks: 3, pages: 2)])
  func aFileAnswersAsTheModel(marks: Int, pages: Int) async throws {
    let folder = try HubFolder()
    let count = try await ModelReplay.play(
      on: folder.open(), seed: 1_000, histories: Seeds.rounds(100, debug: 10), marks: marks,
      pages: pages)
    #expect(count > 100)
  }

  @Test func everyColumnIsStored() async throws {
    let folder = try HubFolder()
    let file = try folder.open()
    try await StoreRoundTrip.check(file)
    file.close()
    try await StoreRoundTrip.checkAgain(try folder.open())
  }

  @Test func ofTooManyVectorsTheOldestGo() async throws {
    let folder = try HubFolder()
    try await StoreRoundTrip.checkVectors(try folder.open())
  }
}
