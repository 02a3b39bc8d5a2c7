// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeValues

struct ExplainCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows the value of a key in every layer, and where it came from.",
    discussion: """
      The first layer that has a value wins. It also prints the key's open conflicts. Layers that \
      only an application knows (its arguments, registered defaults, the default of a property) \
      are not in the file.

        kvsync explain laptop.keepsake theme
        kvsync explain laptop.keepsake letter_size --store defaults --json
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @OptionGroup var store: StoreOption
  @OptionGroup var common: CommonOptions

  func run() throws {
    try store.check(file)
    try checkKey(key, file)
    let device = try common.open(file, .readOnly)
    let report = try KeyReport(of: Address(store: store.store, key: key), on: device)
    try common.output.print(
      try report.json, lines: try report.lines, isData: true)
    if report.hasValue || common.quiet { return }
    for other in try store.others(with: key, on: device) {
      common.output.say("\(file): store \(Shown.name(other)) has this key")
    }
  }
}
