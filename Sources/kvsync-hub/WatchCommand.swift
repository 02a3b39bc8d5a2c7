// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeHub
import KeepsakeSync
import Synchronization

/// `kvsync watch` with a hub.
struct WatchCommand: Subcommand {
  static let configuration = WatchArguments.command

  @OptionGroup var words: WatchArguments
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    guard let address = words.hub else {
      throw InputError.usage("\(words.file): no hub is named; say which with --hub")
    }
    let hub = try Membership.hub(words.file, address)
    let device = try words.open(.existing, common)
    let output = common.output
    // What waits, or cannot be sent or read, is reported when it begins and when it is over.
    let told = Mutex<Set<String>>([])
    try words.watch(device, common) { end in
      HubSession(device, hub) { state in
        switch state {
        case .connecting: break
        case .connected: output.say("\(hub.url): connected")
        case .waiting(let date):
          output.say("\(hub.url): waiting, tries again at \(Shown.text(date))")
        case .refused(let error): end.come(.failure(error))
        }
      } onSync: { report in
        let paths = [words.file, hub.url.description]
        let shown = ShownReport(report, paths: paths, replicas: [nil, nil])
        let lines = shown.stayingRemarks + shown.waiting
        for line in shown.remarks where !lines.contains(line) { output.say(line) }
        told.withLock { told in
          for line in lines where !told.contains(line) { output.say(line) }
          if report.hasConverged {
            if !told.isEmpty { output.say("\(hub.url): all is synced again") }
            told = []
          } else if !lines.isEmpty {
            // A sync that failed half-way may say nothing about the rest.
            told = Set(lines)
          }
        }
      } onFailure: { error in
        output.say("\(error)")
      }
    }
  }
}
