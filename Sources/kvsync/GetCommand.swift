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

  @OptionGroup var setting: SettingArguments
  @Flag(help: "Only what was set, no seeded default.") var stored = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try setting.check()
    let device = try common.open(setting.file, .readOnly)
    if let entry = try setting.entry(on: device), let value = entry.content.value {
      return try show(JSON.entry(entry), value)
    }
    let seeds = try stored ? [] : device.declarations(store: setting.store, key: setting.key)
    if let seed = seeds.first?.value {
      return try show(JSON.seed(seed), seed.value)
    }
    if common.json { common.output.print(.null, lines: [], isData: true) }
    throw NegativeAnswer(message: try absence(device))
  }

  private func show(_ json: JSON, _ value: StoredValue) throws {
    try common.output.print(json, lines: [OutputLine(plain: value)], isData: true)
  }

  private func absence(_ device: Device) throws -> String? {
    guard !common.quiet else { return nil }
    let elsewhere = try setting.otherStores(on: device).map { "store \($0)" }
    let cure =
      elsewhere.isEmpty
      ? "no other store of this device has it"
      : elsewhere.joined(separator: ", ") + (elsewhere.count == 1 ? " has it" : " have it")
    let key = setting.key.count > 200 ? setting.key.prefix(200) + "…" : setting.key[...]
    return "\(setting.file): no key \"\(key)\" in store \(setting.store); \(cure)"
  }
}
