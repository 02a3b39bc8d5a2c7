// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeDevice
import KeepsakeValues

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints each change of a device, by whichever process, until interrupted.",
    discussion: """
      Prints one line a key; with --json, one JSON object a line. Changes that follow each other \
      within milliseconds may be told as one.

        kvsync watch laptop.keepsake
        kvsync watch laptop.keepsake --store cloud --prefix editor. --json
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "Only this store.") var store: String?
  @Option(help: "Only keys that start with this.") var prefix = ""
  @OptionGroup var common: CommonOptions

  /// Milliseconds after an event in which a commit may still become visible.
  private static let settling: Duration = .milliseconds(20)

  func run() throws {
    if let store { try StoreOption.check(store, file) }
    let device = try common.open(file, .readOnly)
    try refuseFrozen(device)
    let events = try FileEvents(path: device.realPath)
    let interruption = Interruption { events.cancel() }
    defer { interruption.end() }
    let watcher = try Watcher(device, store: store, prefix: prefix)
    common.output.say("\(file): watching; interrupt to stop")
    var lastEvent = ContinuousClock.now
    while true {
      for change in try watcher.changes() { try show(change) }
      let isSettling = lastEvent.duration(to: .now) < Self.settling
      switch events.wait(timeout: isSettling ? 2 : 500) {
      case .cancelled: return
      case .event: lastEvent = .now
      case .timeout: break
      }
    }
  }

  /// Where neither the log nor the shared memory can be opened, nothing that others write is seen.
  private func refuseFrozen(_ device: Device) throws {
    guard device.seesOthers else {
      throw KeepsakeError(
        .permissionDenied, path: file, "in a read-only folder a file cannot be watched",
        cure: "watch it as a user who may write there")
    }
  }

  private func show(_ change: Change) throws {
    let line =
      common.json
      ? try Shown.change(change).text()
      : "\(Shown.name(change.store))/\(Shown.name(change.key)): "
        + "\(try Shown.quoted(change.old)) -> \(try Shown.quoted(change.new))"
    Output.standardOutput(line + "\n")
  }
}

/// Turns SIGINT and SIGTERM into a call, so that the command ends in good order.
private final class Interruption {
  private var sources: [any DispatchSourceSignal] = []

  init(_ handler: @escaping @Sendable () -> Void) {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        handler()
        // Whoever reads our output may have stopped; then we would never come to our end.
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { _exit(0) }
      }
      source.resume()
      sources.append(source)
    }
  }

  func end() {
    for source in sources { source.cancel() }
  }
}
