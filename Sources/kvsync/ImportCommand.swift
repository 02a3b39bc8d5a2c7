// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeValues

struct ImportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract:
      "Sets what a file lists, in one transaction; creates the device file if it is missing.",
    discussion: """
      The file has a JSON object a line, or an array of them, or is a property list, whose keys \
      go to --store. Without "type" a value has the type of its JSON.

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

  /// A progress line would mix with typed input.
  var hasProgress: Bool { input != "-" || isatty(STDIN_FILENO) == 0 }

  func run() throws {
    try checkStore(store, of: file)
    let source = try ImportSource(input)
    // The input is checked first: so nothing is locked while a slow program writes it, or if it is
    // refused.
    let count = try forEachWrite(of: source.first(), "read") { _ in }
    do {
      let (imported, changed) = try common.writing(to: file) { device in
        var imported = 0
        let changed = try device.write { write in
          imported = try forEachWrite(of: source.again(), of: count, "written") { line in
            try write(LocalWrite(line))
          }
          try source.checkUnchanged()
        }
        return (imported, changed)
      }
      common.output.print(
        .object(["imported": .integer(Int64(imported)), "changed": .integer(Int64(changed))]),
        lines: ["\(imported) imported, \(changed) changed"], isData: false)
    } catch let error as KeepsakeError {
      // The input has changed since it was checked.
      throw error.cause as? InputError ?? error
    }
  }

  /// - Returns: the number of writes.
  private func forEachWrite(
    of input: ImportInput, of total: Int? = nil, _ verb: String,
    _ body: (TransferLine) throws -> Void
  ) throws -> Int {
    var count = 0
    try ImportFile(input: input, store: store).forEachWrite { line in
      try body(line)
      count += 1
      ProgressLine.count(count, of: total, verb)
    }
    return count
  }
}

extension LocalWrite {
  fileprivate init(_ line: TransferLine) {
    self.init(store: line.store, key: line.key, content: line.content, wallClock: line.time)
  }
}
