// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues

struct ExportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Prints what a device holds, for import to read.",
    discussion: """
      The oldest write comes first, so importing gives back the values and their order in time. \
      Seeded defaults are not exported; their bundle is where they come from. A property list has \
      the keys and values of one store, cloud unless --store names it, without their times.

        kvsync export phone.keepsake > phone.jsonl
        kvsync export phone.keepsake --store defaults --format json
        kvsync export phone.keepsake --store defaults --format plist > settings.plist
        kvsync export phone.keepsake --deleted | kvsync import copy.keepsake -
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case jsonl, json, plist
  }

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "jsonl prints an object a line, json one array of them, plist XML.")
  var format = Format.jsonl
  @Option(help: "Only this store. (default: all)") var store: String?
  @Flag(help: "Deleted keys of synced stores too.") var deleted = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try checkStore(store, of: file)
    if format == .plist, common.json || deleted {
      throw InputError.usage(
        "\(file): a property list is not JSON and has no deletions; leave out --json and --deleted")
    }
    let device = try common.open(file, .readOnly)
    if format == .plist {
      return Output.standardOutput(try propertyList(device))
    }
    let output = Output(isJSON: common.json || format == .json, isQuiet: common.quiet)
    var count = 0
    do {
      try output.printEach { write in
        try device.forEachEntryByTime(store: store) { entry in
          guard deleted || !entry.content.isTombstone else { return }
          write(.object(try entry.exported()))
          count += 1
          ProgressLine.count(count, "written")
        }
      }
    } catch let error as KeepsakeError where error.code == .diskFull {
      // Only the sort writes, to a temporary file.
      throw error.at(TemporaryFolder.parent)
    }
  }

  /// The values of one store: a dictionary of its keys.
  ///
  /// - Throws: `InputError`, with the key, for what a property list cannot hold.
  private func propertyList(_ device: Device) throws -> String {
    var members: [String: StoredValue] = [:]
    var twin: String?
    try device.forEachEntry(store: store ?? StoreName.cloud) { entry in
      guard let value = entry.content.value else { return }
      let key = entry.address.key.string
      if members.updateValue(value, forKey: key) != nil { twin = key }
    }
    if let twin {
      throw refusal(twin.quotedIfNeeded, "another key differs in its bytes alone; rename one")
    }
    let rounded = members.filter { $0.value.hasFractionOfASecond }.keys.sorted()
    if !rounded.isEmpty {
      let names = rounded.map { $0.quotedIfNeeded }.joined(separator: ", ")
      common.output.warn(["\(file): dates are rounded down to whole seconds: \(names)"])
    }
    do throws(PropertyListWriteError) {
      return String(decoding: try PropertyList.write(.dictionary(members)), as: UTF8.self)
    } catch {
      throw refusal(error.keyPath ?? "", error.message)
    }
  }

  private func refusal(_ place: String, _ message: String) -> InputError {
    InputError(kind: .data, message: "\(file): \(place): \(message), or export as jsonl")
  }
}

extension StoredValue {
  /// Whether this value has a date with a fraction of a second, which a property list cannot hold.
  fileprivate var hasFractionOfASecond: Bool {
    switch self {
    case .date(let date):
      date.timeIntervalSinceReferenceDate.rounded(.down) != date.timeIntervalSinceReferenceDate
    case .array(let elements): elements.contains(where: \.hasFractionOfASecond)
    case .dictionary(let members): members.values.contains(where: \.hasFractionOfASecond)
    default: false
    }
  }
}
