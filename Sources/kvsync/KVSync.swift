// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeFormats

@main
struct KVSync: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvsync",
    abstract: "Reads, writes and merges Keepsake device files.",
    discussion: """
      A device file holds settings in named stores. `cloud` and `cloud:<name>` are synced when \
      files are merged, every other store stays on its device.

        kvsync set phone.keepsake theme dark
        kvsync merge phone.keepsake laptop.keepsake
        kvsync get laptop.keepsake theme
      """,
    version: "0.1.0",
    subcommands: [
      MergeCommand.self, DiffCommand.self, GetCommand.self, SetCommand.self, DeleteCommand.self,
      ListCommand.self, ExplainCommand.self, WatchCommand.self, SeedCommand.self,
      PlistCommand.self, ImportCommand.self, ExportCommand.self, ConflictsCommand.self,
      PeersCommand.self, CloneCommand.self, RestoreCommand.self, DoctorCommand.self,
      CompactCommand.self, HubCommand.self,
    ])

  /// In `get FILE -hello` ArgumentParser would find `-h`, and print help as if it were the value.
  private static func refuseHiddenHelp() throws {
    let words = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
    for (before, word) in zip([""] + words, words) {
      guard word.hasPrefix("-"), !word.hasPrefix("--"), word.utf8.count > 2, word.contains("h")
      else { continue }
      throw InputError.usage(
        "(command line): unknown option '\(word)'; \(InputError.dashCure(after: before))")
    }
  }

  /// ArgumentParser would report every word of `lst FILE`, and none of `lst --help`.
  private static func refuseUnknownCommand() throws {
    let words = CommandLine.arguments.dropFirst().drop { $0 == "help" }
    let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard let word = words.first, !word.hasPrefix("-"), !commands.contains(word) else { return }
    throw InputError.usage(
      "(command line): there is no command \(word.prefix(40)); see kvsync help")
  }

  private static func parsed() throws -> any ParsableCommand {
    try refuseHiddenHelp()
    try refuseUnknownCommand()
    return try parseAsRoot()
  }

  static func main() {
    do {
      try ProcessLimits.prepare()
      // The other program parses the words of `hub`, and prints their help.
      let words = CommandLine.arguments.dropFirst()
      if words.first(where: { $0 != "help" }) == "hub" { try HubProgram.run() }
      var command = try FastArguments.command(words) ?? parsed()
      try command.runShowingProgress()
    } catch {
      ExitStatus.exit(with: error, of: KVSync.self)
    }
  }
}
