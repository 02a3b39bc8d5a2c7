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

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @OptionGroup var store: StoreOption
  @OptionGroup var common: CommonOptions

  func run() throws {
    try store.check(file)
    try checkKey(key, file)
    let device = try common.open(file, .existing)
    try device.write([LocalWrite(store: store.store, key: key, value: nil)])
    let entry = try device.entry(store: store.store, key: key)
    try common.output.print(
      entry.map(Shown.entry) ?? .object(["deleted": .boolean(true)]), lines: [], isData: false)
  }
}
