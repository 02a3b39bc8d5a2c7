// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeSync

struct MergeCommand: Subcommand {
  static let configuration = MergeWords.command

  @OptionGroup var words: MergeWords
  @OptionGroup var common: CommonOptions

  func run() throws {
    let shown = try MergeFiles(
      words.files, common: common, isOneWay: words.oneWay, creates: words.create
    ).merge(words.options(words.files), isDryRun: words.dryRun)
    try words.print(shown, common.output)
  }
}
