// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice

/// `kvsync-hub`, which `kvsync` executes for hubs: libraries for networks would add four
/// milliseconds to each start.
enum HubProgram {
  /// Replaces this process by the other program, with the same arguments.
  static func run() throws(KeepsakeError) -> Never {
    let program = Bundle.main.executableURL?.resolvingSymlinksInPath()
    guard let path = program?.deletingLastPathComponent().appending(path: "kvsync-hub").path else {
      throw KeepsakeError(system: ENOENT, path: "(this program)")
    }
    var arguments = ([path] + CommandLine.arguments.dropFirst()).map { strdup($0) } + [nil]
    execv(path, &arguments)
    let reason = errno
    for argument in arguments { free(argument) }
    throw KeepsakeError(
      .incompatible, path: path,
      "the program for hubs cannot be started (\(String(cString: strerror(reason))))",
      cure: "install it beside kvsync: swift build -c release --product kvsync-hub")
  }
}

/// Lists the other program's commands in help, and for its arguments in the completions of
/// shells.
struct HubCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Serves a hub, or creates, joins and manages an account of one.")

  private static let commands = [
    "serve", "create", "invite", "join", "devices", "rename", "revoke", "export", "delete",
  ]

  @Argument(completion: .list(HubCommand.commands)) var command: String
  @Argument(completion: .file()) var words: [String] = []

  func run() throws { try HubProgram.run() }
}
