// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeSync

struct CompactCommand: Subcommand {
  static let configuration = CompactArguments.command

  @OptionGroup var words: CompactArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    if words.hub != nil { try SiblingProgram.hub.run() }
    let device = try common.open(words.file, .existing)
    words.print(try device.compact(keeping: words.keep), common.output)
  }
}
