// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Foundation
package import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// The arguments and options of `watch`, with a hub and without.
package struct WatchArguments: ParsableArguments {
  package static let command = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints each change of a device, whichever process makes it, until interrupted.",
    discussion: """
      Prints one line a key; with --json, one JSON object a line. Changes that follow each other \
      closely may be printed as one.

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
    try checkStore(store, of: file)
    return try common.open(file, access)
  }

  /// Prints each change, until interrupted.
  ///
  /// - Parameter running: starts other work, which may end the watch.
  package func watch<Work>(
    _ device: Device, _ common: CommonOptions, running: (WatchEnd) -> Work
  ) throws {
    let end = WatchEnd()
    // Also in a process that was started with these signals ignored, as by `&`.
    let signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        end.complete(with: .success(()))
        // If the reader of our output has stopped, a blocked write would keep this process alive.
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { _exit(0) }
      }
      source.resume()
      return source
    }
    defer { for source in signals { source.cancel() } }
    let observation = device.observe(store: store, .prefix(prefix)) { changes in
      let result = Result { for change in changes { try print(change, isJSON: common.json) } }
      if case .failure = result { end.complete(with: result) }
    } onFailure: {
      end.complete(with: .failure($0))
    }
    defer { observation.cancel() }
    let work = running(end)
    common.output.say("\(file): watching; interrupt to stop")
    try withExtendedLifetime(work) { try end.wait() }
  }
}

private func print(_ change: SettingChange, isJSON: Bool) throws {
  guard !isJSON else { return Output.standardOutput([OutputLine(try JSON.change(change))]) }
  let place = "\(change.store.quotedIfNeeded)/\(change.key.quotedIfNeeded)"
  Output.standardOutput(["\(place, .key): \(try OutputLine(change))"])
}

/// The result of a watch, which one thread sets, and another waits for.
package final class WatchEnd: Sendable {
  private let result = Mutex<Result<Void, any Error>?>(nil)
  private let isKnown = DispatchSemaphore(value: 0)

  /// Only the first result counts.
  package func complete(with result: Result<Void, any Error>) {
    self.result.withLock { $0 = $0 ?? result }
    isKnown.signal()
  }

  fileprivate func wait() throws {
    isKnown.wait()
    try result.withLock { $0 }?.get()
  }
}
