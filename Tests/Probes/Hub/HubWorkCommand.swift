// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import HubCrowd
import KeepsakeHubFile

struct HubWorkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work", abstract: "Pushes to a hub's file until it is killed.",
    discussion: "Prints \"ACCOUNT SEQ\" for each push that was acknowledged.")

  @Argument var file: String
  @Argument var seed: UInt64

  func run() throws {
    let crowd = try Crowd(
      AnsweringDatabase(try HubFile(path: file)), accounts: 20, rows: 3, seed: seed,
      acknowledged: { account, seq in say("\(account) \(seq)") })
    try crowd.push(.max, atOnce: 8)
  }
}
