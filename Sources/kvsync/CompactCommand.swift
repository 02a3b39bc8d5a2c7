// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct CompactCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Collects old deletions that every peer has acknowledged, and reclaims space.",
    discussion: """
      Peers that were not met for 180 days retire by themselves and are no longer waited for.

        kvsync compact laptop.keepsake
        kvsync compact laptop.keepsake --keep 30d
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(
    help: ArgumentHelp(
      """
      How long a deletion is kept at least. \
      \(Words.note(default: Device.Compaction.defaultAge))
      """),
    transform: Words.duration)
  var keep = Device.Compaction.defaultAge
  @OptionGroup var common: CommonOptions

  func run() throws {
    let result = try common.open(file, .existing).compact(keeping: keep)
    let retired = result.retired.map(\.description)
    let growth =
      result.sizeAfter > result.sizeBefore
      ? ": of each deletion a grave is kept, and these took more pages than the deletions left" : ""
    common.output.print(
      .object([
        "collected": .integer(Int64(result.collected)), "waiting": .integer(Int64(result.waiting)),
        "retired": .array(retired.map(JSON.string)), "bytesBefore": .integer(result.sizeBefore),
        "bytesAfter": .integer(result.sizeAfter),
      ]),
      lines: retired.map { "\($0) was not met for 180 days and is retired" } + [
        """
        \(counted(result.collected, "deletion")) collected, \(result.waiting) waiting; \
        \(result.sizeBefore) bytes before, \(result.sizeAfter) after\(growth)
        """
      ], isData: false)
  }
}
