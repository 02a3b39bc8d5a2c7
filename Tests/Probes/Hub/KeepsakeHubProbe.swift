// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct KeepsakeHubProbe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keepsake-hub-probe",
    abstract: "Pushes to hubs over a file or PostgreSQL until it is killed, and measures them.",
    discussion: "The tests run it, and so do Scripts/hub-failover and Scripts/benchmark.",
    subcommands: subcommands)

  private static var subcommands: [any ParsableCommand.Type] {
    let all: [any ParsableCommand.Type] = [
      HubWorkCommand.self, HubFileCommand.self, HubHTTPCommand.self,
    ]
    #if PostgreSQL
      return all + [PostgresCommand.self]
    #else
      return all
    #endif
  }
}
