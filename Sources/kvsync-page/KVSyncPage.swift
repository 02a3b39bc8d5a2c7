// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine

/// The helper program that `kvsync` executes for its page, with the same arguments.
@main
struct KVSyncPage: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kvsync", abstract: "The page of kvsync open.", version: "0.1.0",
    subcommands: [OpenCommand.self])

  static func main() { HelperProgram.run(Self.self) }
}
