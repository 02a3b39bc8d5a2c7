// SPDX-License-Identifier: Apache-2.0
//
// Commands for hubs, and the page, are programs of their own, which this one executes: libraries
// for networks would add four milliseconds to each start.

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice

struct SiblingProgram {
  private let name: String
  private let purpose: String
  /// The options with which it is built.
  private let options: String

  static let hub = SiblingProgram(name: "kvsync-hub", purpose: "the program for hubs")
  static let page = SiblingProgram(
    name: "kvsync-page", purpose: "the program of the page", options: " --traits Page")

  private init(name: String, purpose: String, options: String = "") {
    (self.name, self.purpose, self.options) = (name, purpose, options)
  }

  static func named(by words: ArraySlice<String>) -> SiblingProgram? {
    let words = words.drop { $0 == "help" }
    let hasHub = words.dropFirst().prefix { $0 != "--" }
      .contains { $0 == "--hub" || $0.hasPrefix("--hub=") }
    switch words.first {
    case "hub": return hub
    case "open": return page
    case "merge" where words.dropFirst().contains(where: isAddress): return hub
    case "watch" where hasHub, "compact" where hasHub: return hub
    default: return nil
    }
  }

  private static func isAddress(_ word: String) -> Bool {
    ["https://", "http://"].contains { word.lowercased().hasPrefix($0) }
  }

  /// Replaces this process by the other program, with the same arguments.
  func run() throws(KeepsakeError) -> Never {
    let program = Bundle.main.executableURL?.resolvingSymlinksInPath()
    guard let path = program?.deletingLastPathComponent().appending(path: name).path else {
      throw KeepsakeError(system: ENOENT, path: "(this program)")
    }
    var arguments = ([path] + CommandLine.arguments.dropFirst()).map { strdup($0) } + [nil]
    execv(path, &arguments)
    let reason = errno
    for argument in arguments { free(argument) }
    throw KeepsakeError(
      .incompatible, path: path,
      "\(purpose) cannot be started (\(String(cString: strerror(reason))))",
      cure: "install it beside kvsync: swift build -c release --product \(name)\(options)")
  }
}

/// Stands for the other program's commands in help, and for its arguments in the completions of
/// shells.
struct HubCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Serves a hub, or makes, joins and looks after an account of one.")

  private static let commands = [
    "serve", "create", "invite", "join", "devices", "rename", "revoke", "export", "delete",
  ]

  @Argument(completion: .list(HubCommand.commands)) var command: String
  @Argument(completion: .file()) var words: [String] = []

  func run() throws { try SiblingProgram.hub.run() }
}

/// Stands for the page's program in the same way.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Shows device files on a page in the browser.")

  @Argument(completion: .file()) var files: [String]
  @Flag var edit = false
  @Option var port: UInt16?
  @Flag(name: .customLong("no-browser")) var leavesBrowser = false

  func run() throws { try SiblingProgram.page.run() }
}
