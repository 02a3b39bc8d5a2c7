// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

struct GetCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Prints the value of a key: the device's own, else the seeded default.",
    discussion: """
      Exits with 1 when there is none.

        kvsync get phone.keepsake theme
        kvsync get phone.keepsake volume --store defaults --json
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @OptionGroup var store: StoreOption
  @Flag(help: "Only what was set, no seeded default.") var stored = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try store.check(file)
    try checkKey(key, file)
    let device = try common.open(file, .readOnly)
    if let entry = try device.entry(store: store.store, key: key),
      let value = entry.content.value
    {
      return try show(Shown.entry(entry), value)
    }
    if !stored, let seed = try device.seed(store: store.store, key: key) {
      return try show(Shown.seed(seed), seed.value)
    }
    if common.json { common.output.print(.null, lines: [], isData: true) }
    throw NegativeAnswer(message: try absence(device))
  }

  private func show(_ json: JSON, _ value: StoredValue) throws {
    try common.output.print(json, lines: [Shown.plain(value)], isData: true)
  }

  private func absence(_ device: Device) throws -> String? {
    guard !common.quiet else { return nil }
    let elsewhere = try store.others(with: key, on: device).map { "store \($0)" }
    let cure =
      elsewhere.isEmpty
      ? "no other store of this device has it"
      : elsewhere.joined(separator: ", ") + (elsewhere.count == 1 ? " has it" : " have it")
    let shown = key.count > 200 ? key.prefix(200) + "…" : key[...]
    return "\(file): no key \"\(shown)\" in store \(store.store); \(cure)"
  }
}
