// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeDevice
import KeepsakeValues

struct ImportCommand: ParsableCommand {
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

  func run() throws {
    try StoreOption.check(store, file)
    let name = input == "-" ? "(standard input)" : input
    let writes = try ImportFile(name: name, store: store).writes(try bytes(name))
    let device = try common.open(file, .create)
    let changes = try device.write(writes)
    common.output.print(
      .object([
        "imported": .integer(Int64(writes.count)), "changed": .integer(Int64(changes.count)),
      ]),
      lines: ["\(writes.count) imported, \(changes.count) changed"], isData: false)
  }

  private func bytes(_ name: String) throws -> [UInt8] {
    do {
      guard input != "-" else {
        return Array(try FileHandle.standardInput.readToEnd() ?? Data())
      }
      return Array(try Data(contentsOf: URL(fileURLWithPath: input)))
    } catch {
      guard input != "-" else {
        throw InputError(
          kind: .broken, message: "\(name): it cannot be read; check where it comes from")
      }
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: input, isDirectory: &isFolder) else {
        throw InputError(kind: .missing, message: "\(name): there is no such file; check the path")
      }
      throw isFolder.boolValue
        ? InputError(kind: .data, message: "\(name): this is a folder; name a file")
        : InputError(
          kind: .unreadable, message: "\(name): the file cannot be read; check its permissions")
    }
  }
}
