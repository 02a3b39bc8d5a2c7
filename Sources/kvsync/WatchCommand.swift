// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeDevice
import KeepsakeValues
import Synchronization

struct WatchCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints each change of a device, by whichever process, until interrupted.",
    discussion: """
      Prints one line a key; with --json, one JSON object a line. Changes that follow each other \
      closely may be told as one.

        kvsync watch laptop.keepsake
        kvsync watch laptop.keepsake --store cloud --prefix editor. --json
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "Only this store. (default: all)") var store: String?
  @Option(help: "Only keys that start with this.") var prefix = ""
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
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
      let shown = Result { for change in changes { try show(change) } }
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

  private func show(_ change: SettingChange) throws {
    guard !common.json else {
      return Output.standardOutput([Line(try Shown.change(change))])
    }
    let name = "\(Shown.name(change.store))/\(Shown.name(change.key))"
    let change = try Shown.change(from: change.before, to: change.after)
    Output.standardOutput(["\(name, .key): \(change)"])
  }
}

/// Why the watching ends: waited for by one thread, known to another.
private final class Ending: Sendable {
  private let reason = Mutex<Result<Void, any Error>?>(nil)
  private let isKnown = DispatchSemaphore(value: 0)

  /// The first that comes counts.
  func come(_ result: Result<Void, any Error>) {
    let isFirst = reason.withLock { reason in
      defer { reason = reason ?? result }
      return reason == nil
    }
    if isFirst { isKnown.signal() }
  }

  func wait() throws {
    isKnown.wait()
    try reason.withLock { $0 }?.get()
  }
}
