// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeSync

struct MergeCommand: Subcommand {
  static let configuration = MergeArguments.command

  @OptionGroup var words: MergeArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    try words.print(words.files, common.output) {
      try MergeFiles(
        words.files, common: common, isOneWay: words.oneWay, creates: words.create
      ).merge(words.options(words.files), isDryRun: words.dryRun)
    }
  }
}
