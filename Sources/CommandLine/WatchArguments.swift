// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Foundation
package import KeepsakeDevice

/// The arguments and options of `watch`, with a hub and without.
package struct WatchArguments: ParsableArguments {
  package static let command = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints each change of a device, whichever process makes it, until interrupted.",
    discussion: """
      Prints one line a key; with --json, one JSON object a line. Changes that follow each other \
      closely may be told as one.

        kvsync watch laptop.keepsake
        kvsync watch laptop.keepsake --store cloud --prefix editor. --json
        kvsync watch laptop.keepsake --hub https://hub.example
      """)

  @Argument(help: "The device file.", completion: .file()) package var file: String
  @Option(help: "Only this store. (default: all)") package var store: String?
  @Option(help: "Only keys that start with this.") package var prefix = ""
  @Option(
    help: ArgumentHelp(
      "Stay connected with the hub at this address, and merge as either changes.",
      valueName: "url"))
  package var hub: String?

  package init() {}

  package func open(
    _ access: Device.Access, _ common: CommonOptions
  ) throws -> Device {
    if let store { try StoreOption.check(store, file) }
    return try common.open(file, access)
  }

  /// Prints each change, until interrupted.
  ///
  /// - Parameter running: starts other work, which may end the watch.
  package func watch<Work>(
    _ device: Device, _ common: CommonOptions, running: (Completion) -> Work
  ) throws {
    let end = Completion()
    let interruption = Interruption {
      end.complete(with: .success(()))
      // If the reader of our output has stopped, a blocked write would keep this process alive.
      DispatchQueue.global().asyncAfter(deadline: .now() + 1) { _exit(0) }
    }
    defer { interruption.end() }
    let observation = device.observe(store: store, .prefix(prefix)) { changes in
      let shown = Result { for change in changes { try Shown.print(change, isJSON: common.json) } }
      if case .failure = shown { end.complete(with: shown) }
    } onFailure: {
      end.complete(with: .failure($0))
    }
    defer { observation.cancel() }
    let work = running(end)
    common.output.say("\(file): watching; interrupt to stop")
    try withExtendedLifetime(work) { try end.wait() }
  }
}
