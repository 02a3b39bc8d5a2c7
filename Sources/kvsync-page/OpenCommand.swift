// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

#if Page
  import KeepsakePage
#endif

struct OpenCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Shows device files on a page in the browser, until interrupted.",
    discussion: """
      The page is for this machine alone, at an address with a token that opens it once. It can \
      only read, unless --edit.

        kvsync open phone.keepsake
        kvsync open phone.keepsake laptop.keepsake --edit
      """)

  @Argument(help: "The device files.", completion: .file()) var files: [String]
  @Flag(help: "Let the page write: edits, deletions, restored values, merges.") var edit = false
  @Option(help: "The port to listen on; 0 for any that is free.") var port: UInt16 = 0
  @Flag(name: .customLong("no-browser"), help: "Print the address, and open nothing.")
  var leavesBrowser = false
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    #if Page
      try DistinctFiles.check(files)
      let server = try PageServer(files, isEditable: edit, common)
      let (output, leavesBrowser) = (common.output, leavesBrowser)
      try HelperProgram.serve(
        at: "127.0.0.1:\(port)", "the page cannot be served",
        cure: "see that the port is free, or leave --port out"
      ) { [port] in
        try await server.run(port: Int(port)) { address in
          Output.standardOutput("\(address)\n")
          output.say("the address opens the page once; interrupt to end it")
          if !leavesBrowser { Browser.open(address) { output.say($0) } }
        }
      }
    #else
      throw HelperProgram.lacks(
        "the page",
        cure: "build it with: swift build -c release --product kvsync-page --traits Page")
    #endif
  }
}

#if Page
  /// The browser of the desktop.
  private enum Browser {
    /// Opens an address, if there is a desktop.
    ///
    /// - Parameter onFailure: receives the reason of a failure.
    static func open(
      _ address: String, onFailure: @escaping @Sendable (String) -> Void
    ) {
      #if os(macOS)
        let opener = "open"
      #else
        let opener = "xdg-open"
        let environment = ProcessInfo.processInfo.environment
        let screens = [environment["DISPLAY"], environment["WAYLAND_DISPLAY"]]
        guard screens.contains(where: { $0 ?? "" != "" }) else { return }
      #endif
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [opener, address]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      process.terminationHandler = { process in
        let status = process.terminationStatus
        guard status != 0 else { return }
        // env(1) returns 127 if it does not find the program.
        onFailure(
          "(\(opener)): " + (status == 127 ? "is not there" : "has failed (\(status))")
            + "; open the address yourself")
      }
      do {
        try process.run()
      } catch {
        onFailure(
          "(\(opener)): cannot be started (\(error.localizedDescription))"
            + "; open the address yourself")
      }
    }
  }
#endif
