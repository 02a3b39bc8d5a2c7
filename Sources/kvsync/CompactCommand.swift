// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeSync

struct CompactCommand: Subcommand {
  static let configuration = CompactArguments.command

  @OptionGroup var arguments: CompactArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    if arguments.hub != nil { try HubProgram.run() }
    let device = try common.open(arguments.file, .existing)
    arguments.print(try device.compact(keeping: arguments.keep), common.output)
  }
}
