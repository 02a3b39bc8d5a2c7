// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeDevice
import KeepsakeSettingsBundle
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
    let changes = try common.writing(to: file) { try $0.write(writes) }
    common.output.print(
      .object([
        "imported": .integer(Int64(writes.count)), "changed": .integer(Int64(changes.count)),
      ]),
      lines: ["\(writes.count) imported, \(changes.count) changed"], isData: false)
  }

  private func bytes(_ name: String) throws -> [UInt8] {
    func fail(_ kind: InputError.Kind, _ message: String) -> InputError {
      InputError(kind: kind, message: "\(name): \(message)")
    }
    if input != "-" {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: input, isDirectory: &isFolder) else {
        throw fail(.missing, "there is no such file; check the path")
      }
      if isFolder.boolValue { throw fail(.data, "this is a folder; name a file") }
    }
    // Also a pipe or a device: read to its end, whatever its size claims to be.
    let handle = input == "-" ? .standardInput : FileHandle(forReadingAtPath: input)
    guard let handle else {
      throw fail(.unreadable, "the file cannot be read; check its permissions")
    }
    do {
      return try Self.read(handle, name)
    } catch let error as PropertyListError {
      throw error
    } catch {
      throw fail(.broken, "it cannot be read; check where it comes from")
    }
  }

  /// Everything; only JSON may be larger than a property list.
  private static func read(_ handle: FileHandle, _ name: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var limit = PropertyListLimits.generous.bytes
    while let more = try handle.read(upToCount: 1 << 20), !more.isEmpty {
      if bytes.isEmpty, [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(ImportFile.first(more)) {
        limit = .max
      }
      bytes += more
      if bytes.count > limit { throw PropertyListError.tooLarge(file: name, limit: limit) }
    }
    return bytes
  }
}
