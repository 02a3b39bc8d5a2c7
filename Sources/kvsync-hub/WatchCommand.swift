// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeHub
import KeepsakeSync
import Synchronization

/// `kvsync watch` with a hub.
struct WatchCommand: Subcommand {
  static let configuration = WatchArguments.command

  @OptionGroup var arguments: WatchArguments
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    let hub = try DeviceHubs.hub(of: arguments.file, at: arguments.hub)
    let device = try arguments.open(.existing, common)
    let output = common.output
    // Entries that wait, or cannot be sent or read, are reported when they appear and when all are
    // gone.
    let reported = Mutex<Set<String>>([])
    try arguments.watch(device, common) { end in
      HubSession(device, hub) { state in
        switch state {
        case .connecting: break
        case .connected: output.say("\(hub.url): connected")
        case .waiting(let date):
          output.say("\(hub.url): waiting, tries again at \(date.iso8601)")
        case .refused(let error): end.complete(with: .failure(error))
        }
      } onSync: { report in
        let paths = [arguments.file, hub.url.description]
        let shown = PrintableMergeReport(report, paths: paths, replicas: [nil, nil])
        let lines = shown.stayingRemarks + shown.waiting
        for line in shown.remarks where !lines.contains(line) { output.say(line) }
        reported.withLock { reported in
          for line in lines where !reported.contains(line) { output.say(line) }
          if report.hasConverged {
            if !reported.isEmpty { output.say("\(hub.url): all is synced again") }
            reported = []
          } else if !lines.isEmpty {
            // A sync that failed half-way may say nothing about the rest.
            reported = Set(lines)
          }
        }
      } onFailure: { error in
        output.say("\(error)")
      }
    }
  }
}
