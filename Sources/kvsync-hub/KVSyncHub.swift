// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine

/// The commands of `kvsync` that need a hub. `kvsync` executes this program for them.
@main
struct KVSyncHub: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvsync", abstract: "The commands of kvsync for hubs.", version: "0.1.0",
    subcommands: [
      HubCommand.self, MergeCommand.self, WatchCommand.self, CompactCommand.self,
    ])

  static func main() { HelperProgram.run(Self.self) }
}

struct HubCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Makes, joins and looks after an account of a hub.",
    discussion: """
      A hub keeps the newest write of each key, so that devices sync without reaching each other. \
      Each device has a token of its own, in ~/.config/keepsake/hubs; KEEPSAKE_HUB_TOKEN stands in \
      for it.

        kvsync hub create https://hub.example phone.keepsake --secret hub.secret
        kvsync hub invite phone.keepsake
        kvsync hub join https://hub.example laptop.keepsake
        kvsync merge laptop.keepsake https://hub.example
      """,
    subcommands: [
      ServeCommand.self, CreateCommand.self, InviteCommand.self, JoinCommand.self,
      DevicesCommand.self, RenameCommand.self, RevokeCommand.self, ExportCommand.self,
      DeleteCommand.self,
    ])
}
