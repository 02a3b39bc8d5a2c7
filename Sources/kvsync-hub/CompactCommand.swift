// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeHub

/// `kvsync compact` with a hub.
struct CompactCommand: Subcommand {
  static let configuration = CompactArguments.command

  @OptionGroup var words: CompactArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    guard let address = words.hub else {
      throw InputError.usage("\(words.file): no hub is named; say which with --hub")
    }
    let hub = try Membership.hub(words.file, address)
    let device = try common.open(words.file, .existing)
    words.print(try device.compact(keeping: words.keep, with: hub), common.output)
  }
}
