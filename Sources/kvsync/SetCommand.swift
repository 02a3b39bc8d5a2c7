// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeValues

struct SetCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets a key; creates the file if it is missing.",
    discussion: """
      A value that starts with - follows --. A value of another type than the one before is \
      stored, with a warning.

        kvsync set phone.keepsake theme dark
        kvsync set phone.keepsake volume 0.5 --type real --store defaults
        kvsync set phone.keepsake offset --type integer -- -3
      """)

  @OptionGroup var setting: SettingArguments
  @Argument(help: "The value.") var value: String
  @Option(help: "How to read the value.") var type = ArgumentValue.ValueType.string
  @OptionGroup var common: CommonOptions

  func run() throws {
    try setting.check()
    let stored: StoredValue
    do {
      stored = try ArgumentValue.value(value, type)
    } catch let error as InputError {
      throw InputError(kind: error.kind, message: "\(setting.file): \(error.message)")
    }
    let entry = try common.writing(to: setting.file) { device in
      let write = LocalWrite(store: setting.store, key: setting.key, value: stored)
      let others = common.quiet ? [] : try setting.otherStores(on: device)
      for change in try device.write([write]) { warn(of: change, others: others) }
      return common.json ? try setting.entry(on: device) : nil
    }
    guard let entry else { return }
    try common.output.print(JSON.entry(entry), lines: [], isData: false)
  }

  /// Warns if the type has changed, or another store has the key: an application may not find the
  /// value.
  ///
  /// - Parameter others: stores that have the key, too.
  private func warn(of change: SettingChange, others: [String]) {
    let name = "\(setting.file): \(setting.store)/\(setting.key)"
    if change.before.isTombstone, let other = others.first {
      common.output.say("\(name) is new; store \(other.quotedIfNeeded) has this key, too")
    }
    guard let old = change.before.value?.kind,
      let new = change.after.value?.kind, old != new
    else { return }
    let cure = ArgumentValue.type(of: old).map { "; to keep the type, write --type \($0)" } ?? ""
    let kinds = "was \(ArgumentValue.kind(old)) and is \(ArgumentValue.kind(new)) now"
    common.output.say("\(name) \(kinds)\(cure)")
  }
}
