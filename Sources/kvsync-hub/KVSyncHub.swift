// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine

/// The commands of `kvsync` that need a hub. `kvsync` executes this program for them, with the same
/// arguments.
@main
struct KVSyncHub: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvsync", abstract: "The commands of kvsync for hubs.", version: "0.1.0",
    subcommands: [
      HubCommand.self, MergeCommand.self, WatchCommand.self, CompactCommand.self,
    ])

  static func main() async {
    do {
      try ProcessLimits.prepare()
      var command = try parseAsRoot()
      if let server = command as? ServeCommand { return try await server.run() }
      try command.runShowingProgress()
    } catch {
      ExitStatus.exit(with: error, of: Self.self)
    }
  }
}

struct HubCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Creates, joins and manages an account of a hub.",
    discussion: """
      A hub keeps the newest write of each key, so that devices sync without reaching each other. \
      Each device has a token of its own, in ~/.config/keepsake/hubs; KEEPSAKE_HUB_TOKEN replaces \
      it.

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
