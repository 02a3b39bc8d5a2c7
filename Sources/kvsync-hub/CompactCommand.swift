// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeHub

/// `kvsync compact` with a hub.
struct CompactCommand: Subcommand {
  static let configuration = CompactArguments.command

  @OptionGroup var arguments: CompactArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    let hub = try DeviceHubs.hub(of: arguments.file, at: arguments.hub)
    let device = try common.open(arguments.file, .existing)
    arguments.print(try device.compact(keeping: arguments.keep, with: hub), common.output)
  }
}
