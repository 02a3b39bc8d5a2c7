// SPDX-License-Identifier: Apache-2.0
//
// What is about hubs is a program of its own beside this one, which becomes it: libraries for
// networks would cost each start of this one four milliseconds.

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice

enum HubProgram {
  private static let name = "kvsync-hub"

  static func isMeant(by words: ArraySlice<String>) -> Bool {
    let words = words.drop { $0 == "help" }
    let before = words.dropFirst().prefix { $0 != "--" }
    switch words.first {
    case "hub": return true
    case "merge": return words.dropFirst().contains(where: isAddress)
    case "watch": return before.contains { $0 == "--hub" || $0.hasPrefix("--hub=") }
    default: return false
    }
  }

  private static func isAddress(_ word: String) -> Bool {
    ["https://", "http://"].contains { word.lowercased().hasPrefix($0) }
  }

  /// This process goes on as the other program, with the same words.
  static func run() throws(KeepsakeError) -> Never {
    let path = try folder() + "/" + name
    var arguments = ([path] + CommandLine.arguments.dropFirst()).map { strdup($0) } + [nil]
    execv(path, &arguments)
    let reason = errno
    for argument in arguments { free(argument) }
    throw KeepsakeError(
      .incompatible, path: path,
      "the program for hubs cannot be started (\(String(cString: strerror(reason))))",
      cure: "install it beside kvsync: swift build -c release --product \(name)")
  }

  /// Where this program is.
  private static func folder() throws(KeepsakeError) -> String {
    #if canImport(Darwin)
      var size: UInt32 = 0
      _ = _NSGetExecutablePath(nil, &size)
      var bytes = [CChar](repeating: 0, count: Int(size))
      guard _NSGetExecutablePath(&bytes, &size) == 0 else {
        throw KeepsakeError(system: ENAMETOOLONG, path: "(this process)")
      }
      let path = URL(
        fileURLWithPath: String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      ).resolvingSymlinksInPath().path
    #else
      let path: String
      do {
        path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      } catch {
        throw KeepsakeError(error, path: "/proc/self/exe")
      }
    #endif
    return (path as NSString).deletingLastPathComponent
  }
}

/// Stands for the other program's commands where these are listed.
struct HubCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Serves a hub, or makes, joins and looks after an account of one.")

  @Argument(parsing: .captureForPassthrough) var words: [String] = []

  func run() throws { try HubProgram.run() }
}
