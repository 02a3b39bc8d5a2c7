// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct DiffCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Lists the keys whose values differ between two devices.",
    discussion: """
      Compares the synced stores unless --store names others. Prints one line a key: store, key, \
      the value of the first device and that of the second as JSON, separated by tabs; nothing \
      where there is no value. Exits with 1 when there is a difference.

        kvsync diff phone.keepsake laptop.keepsake
        kvsync diff phone.keepsake laptop.keepsake --store defaults --json
      """)

  @Argument(help: "A device file.", completion: .file()) var first: String
  @Argument(help: "Another one.", completion: .file()) var second: String
  @Option(help: "Exactly this store (repeatable). (default: the synced ones)")
  var store: [String] = []
  @OptionGroup var common: CommonOptions

  func run() throws {
    for name in store { try checkStore(name, of: first) }
    try DistinctFiles.check([first, second])
    let (left, right) = (try common.open(first, .readOnly), try common.open(second, .readOnly))
    let differences = try Difference.all(left, right, stores: store.isEmpty ? nil : store)
    try common.output.print(
      .object([
        "equal": .boolean(differences.isEmpty),
        "differences": .array(try differences.map(Self.json)),
      ]),
      lines: try differences.map(Self.line), isData: true)
    guard !differences.isEmpty else { return }
    // The list may have scrolled away.
    if Terminal.showsOutput, !common.json {
      common.output.say(counted(differences.count, "key differs", plural: "keys differ"))
    }
    throw NegativeAnswer(message: nil)
  }

  private static func json(_ difference: Difference) throws -> JSON {
    .object([
      "store": .string(difference.store), "key": .string(difference.key),
      "first": try .valueOrNull(difference.left), "second": try .valueOrNull(difference.right),
    ])
  }

  private static func line(_ difference: Difference) throws -> OutputLine {
    let address = "\(difference.store.quotedIfNeeded)\t\(difference.key.quotedIfNeeded)"
    let left = try OutputLine(difference.left, or: "")
    let right = try OutputLine(difference.right, or: "")
    return "\(address, .key)\t\(left, .old)\t\(right, .new)"
  }
}
