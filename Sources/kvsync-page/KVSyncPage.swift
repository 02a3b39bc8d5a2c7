// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine

/// What `kvsync` becomes for its page. Its words are those of `kvsync`.
@main
struct KVSyncPage: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvsync", abstract: "What kvsync shows in the browser.", version: "0.1.0",
    subcommands: [OpenCommand.self])

  static func main() { Program.run(Self.self) }
}
