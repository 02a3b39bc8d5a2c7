// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

struct DeleteCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes a key; in a synced store other devices delete it, too.",
    discussion: """
        kvsync delete phone.keepsake theme
      """)

  @OptionGroup var setting: SettingArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    try setting.check()
    let device = try common.open(setting.file, .existing)
    try device.write([LocalWrite(store: setting.store, key: setting.key, value: nil)])
    let entry = try setting.entry(on: device)
    try common.output.print(
      entry.map(JSON.entry) ?? .object(["deleted": .boolean(true)]), lines: [], isData: false)
  }
}
