// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import KeepsakeDevice
import KeepsakeValues

/// The arguments and options of `compact`, with a hub and without.
package struct CompactArguments: ParsableArguments {
  package static let command = CommandConfiguration(
    commandName: "compact",
    abstract: "Drops old deletions, and reclaims space.",
    discussion: """
      A device that was away for longer than a deletion is kept may bring the deleted value back; \
      the merge says so. With --hub the hub drops them too, if the device has read everything.

        kvsync compact laptop.keepsake
        kvsync compact laptop.keepsake --keep 30d
        kvsync compact laptop.keepsake --hub https://hub.example
      """)

  @Argument(help: "The device file.", completion: .file()) package var file: String
  @Option(help: "How long a deletion is kept. (default: 365d)", transform: ArgumentValue.duration)
  package var keep = Device.Compaction.defaultAge
  @Option(
    help: ArgumentHelp(
      "The address of a hub that drops the same deletions.", valueName: "url"))
  package var hub: String?

  package init() {}

  package func print(_ result: Device.Compaction, _ output: Output) {
    output.print(
      .object([
        "dropped": .integer(Int64(result.dropped)), "kept": .integer(Int64(result.kept)),
        "bytesBefore": .integer(result.sizeBefore), "bytesAfter": .integer(result.sizeAfter),
      ]),
      lines: [
        """
        \(counted(result.dropped, "deletion")) dropped, \(result.kept) kept; \
        \(result.sizeBefore) bytes before, \(result.sizeAfter) after
        """
      ], isData: false)
  }
}
