// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeTransfer
import KeepsakeValues

struct ImportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract:
      "Sets what a file lists, in one transaction; makes the device file when it is missing.",
    discussion: """
      The file has a JSON object a line, or is a property list, whose keys go to --store.

        {"store":"cloud","key":"theme","type":"string","value":"dark"}
        {"store":"cloud","key":"draft","deleted":true,"at":"2026-11-20T10:00:00Z"}

        kvsync import phone.keepsake settings.jsonl
        other-program | kvsync import phone.keepsake -
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "What to import; - for standard input.", completion: .file()) var input: String
  @Option(help: "The store of lines that name none, and of a property list.")
  var store = StoreName.cloud
  @OptionGroup var common: CommonOptions

  /// What is typed would be mixed up with it.
  var hasProgress: Bool { input != "-" || isatty(STDIN_FILENO) == 0 }

  func run() throws {
    try StoreOption.check(store, file)
    let lines = try ImportInput(input)
    var spool = Spool()
    try ImportFile(input: lines, store: store).forEachWrite { write in
      try spool.append(SpooledRow(write))
      ProgressLine.count(spool.count, "read")
    }
    let changed = try common.writing(to: file) { device in
      var (rows, written) = (try spool.reader(), 0)
      return try device.write {
        defer { written += 1 }
        ProgressLine.count(written, of: spool.count, "written")
        return try rows.next().map(LocalWrite.init)
      }
    }
    common.output.print(
      .object(["imported": .integer(Int64(spool.count)), "changed": .integer(Int64(changed))]),
      lines: ["\(spool.count) imported, \(changed) changed"], isData: false)
  }
}

extension SpooledRow {
  /// Ranked by its time; -1 where it has none.
  fileprivate init(_ line: TransferLine) {
    self.init(
      store: line.store, key: line.key, content: line.content, rank: Rank(first: line.time ?? -1))
  }
}

extension LocalWrite {
  fileprivate init(_ row: SpooledRow) {
    self.init(
      store: row.store, key: row.key, content: row.content,
      wallClock: row.rank.first < 0 ? nil : row.rank.first)
  }
}
