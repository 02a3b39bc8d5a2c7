// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeHub
import KeepsakeSync

/// `kvsync merge` with a hub.
struct MergeCommand: Subcommand {
  static let configuration = MergeArguments.command

  @OptionGroup var arguments: MergeArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    guard arguments.files.count == 2, arguments.hubs.count == 1, let address = arguments.hubs.first,
      let file = arguments.files.first(where: { $0 != address })
    else {
      throw InputError.usage(
        "(command line): a hub is merged with one file; name a device file and an address")
    }
    let refused = [
      ("--dry-run", arguments.dryRun), ("--one-way", arguments.oneWay),
      ("--create", arguments.create), ("--store", !arguments.store.isEmpty),
    ]
    if let (option, _) = refused.first(where: \.1) {
      throw InputError.usage("\(address): \(option) is for files; merge with a hub without it")
    }
    let hub = try DeviceHubs.hub(of: file, at: address)
    let paths = [file, hub.url.description]
    let options = try arguments.options(paths)
    let device = try common.open(file, .existing)
    try arguments.print(paths, common.output) {
      let report = try device.merge(with: hub, options: options)
      return PrintableMergeReport(report, paths: paths, replicas: [try device.replica(), nil])
    }
  }
}
