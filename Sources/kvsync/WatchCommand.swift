// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

struct WatchCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints each change of a device, by whichever process, until interrupted.",
    discussion: """
      Prints one line a key; with --json, one JSON object a line. Changes that follow each other \
      closely may be told as one.

        kvsync watch laptop.keepsake
        kvsync watch laptop.keepsake --store cloud --prefix editor. --json
        kvsync watch laptop.keepsake --hub https://hub.example
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "Only this store. (default: all)") var store: String?
  @Option(help: "Only keys that start with this.") var prefix = ""
  @Option(
    help: ArgumentHelp(
      "Stay connected with the hub at this address, and merge as either changes.",
      valueName: "url"))
  var hub: String?
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    if hub != nil { try HubProgram.run() }
    if let store { try StoreOption.check(store, file) }
    let device = try common.open(file, .readOnly)
    try refuseFrozen(device)
    let end = Ending()
    let interruption = Interruption(isForced: true) { _ in
      end.come(.success(()))
      // The reader of our output may have stopped; then this process would never end.
      DispatchQueue.global().asyncAfter(deadline: .now() + 1) { _exit(0) }
    }
    defer { interruption.end() }
    let observation = device.observe(store: store, .prefix(prefix)) { changes in
      let shown = Result { for change in changes { try Shown.print(change, isJSON: common.json) } }
      if case .failure = shown { end.come(shown) }
    } onFailure: {
      end.come(.failure($0))
    }
    defer { observation.cancel() }
    common.output.say("\(file): watching; interrupt to stop")
    try end.wait()
  }

  /// Where neither the log nor the shared memory can be opened, nothing that others write is seen.
  private func refuseFrozen(_ device: Device) throws {
    guard device.seesOthers else {
      throw KeepsakeError(
        .permissionDenied, path: file, "in a read-only folder a file cannot be watched",
        cure: "watch it as a user who may write there")
    }
  }
}
