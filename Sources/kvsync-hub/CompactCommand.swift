// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeHub

/// `kvsync compact` with a hub.
struct CompactCommand: Subcommand {
  static let configuration = CompactArguments.command

  @OptionGroup var arguments: CompactArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    guard let address = arguments.hub else {
      throw InputError.usage("\(arguments.file): no hub is named; say which with --hub")
    }
    let hub = try Membership.hub(arguments.file, address)
    let device = try common.open(arguments.file, .existing)
    arguments.print(try device.compact(keeping: arguments.keep, with: hub), common.output)
  }
}
