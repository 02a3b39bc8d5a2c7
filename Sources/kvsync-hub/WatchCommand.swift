// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeHub
import KeepsakeValues

/// `kvsync watch` with a hub.
struct WatchCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Stays connected with a hub, and prints each change of a device.",
    discussion: "  kvsync watch laptop.keepsake --hub https://hub.example")

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: ArgumentHelp("The hub's address.", valueName: "url")) var hub: String
  @Option(help: "Only this store. (default: all)") var store: String?
  @Option(help: "Only keys that start with this.") var prefix = ""
  @OptionGroup var common: CommonOptions

  func run() throws {
    if let store { try StoreOption.check(store, file) }
    let hub = try Membership.hub(file, hub)
    let device = try common.open(file, .existing)
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
    let output = common.output
    let session = HubSession(device, hub) { state in
      switch state {
      case .connecting: break
      case .connected: output.say("\(hub.url): connected")
      case .waiting(let date): output.say("\(hub.url): waiting, tries again at \(Shown.text(date))")
      case .refused(let error): end.come(.failure(error))
      }
    } onFailure: { error in
      output.say("\(error)")
    }
    defer { session.cancel() }
    output.say("\(file): watching; interrupt to stop")
    try end.wait()
  }
}
