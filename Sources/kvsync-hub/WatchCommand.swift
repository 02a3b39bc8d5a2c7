// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeHub

/// `kvsync watch` with a hub.
struct WatchCommand: Subcommand {
  static let configuration = WatchWords.command

  @OptionGroup var words: WatchWords
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    guard let address = words.hub else {
      throw InputError.usage("\(words.file): no hub is named; say which with --hub")
    }
    let hub = try Membership.hub(words.file, address)
    let device = try words.open(.existing, common)
    let output = common.output
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
        for remark in shown.remarks { output.say(remark) }
      } onFailure: { error in
        output.say("\(error)")
      }
    }
  }
}
