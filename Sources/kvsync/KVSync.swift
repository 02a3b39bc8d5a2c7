// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct KVSync: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvsync",
    abstract: "Reads, writes and merges Keepsake device files.",
    discussion: """
      A device file holds settings in named stores. `cloud` and `cloud:<name>` travel when files are
      merged, every other store stays on its device.

        kvsync set phone.keepsake theme dark
        kvsync merge phone.keepsake laptop.keepsake
        kvsync get laptop.keepsake theme
      """,
    version: "0.1.0",
    subcommands: [
      MergeCommand.self, GetCommand.self, SetCommand.self, DeleteCommand.self, ListCommand.self,
      SeedCommand.self, ImportCommand.self,
    ])

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      ExitStatus(error).exit()
    }
  }
}
