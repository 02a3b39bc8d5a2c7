// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeSync

struct MergeCommand: Subcommand {
  static let configuration = MergeArguments.command

  @OptionGroup var arguments: MergeArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    if !arguments.hubs.isEmpty { try HubProgram.run() }
    try arguments.print(arguments.files, common.output) {
      try MergeFiles(
        arguments.files, common: common, isOneWay: arguments.oneWay, creates: arguments.create
      ).merge(arguments.options(arguments.files), isDryRun: arguments.dryRun)
    }
  }
}
