// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeValues

struct SetCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets a key; makes the file when it is missing.",
    discussion: """
      A value that starts with - follows --. A value of another type than the one before is \
      stored, with a warning.

        kvsync set phone.keepsake theme dark
        kvsync set phone.keepsake volume 0.5 --type real --store defaults
        kvsync set phone.keepsake offset --type integer -- -3
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @Argument(help: "The value.") var value: String
  @Option(help: "How to read the value.") var type = ArgumentValue.ValueType.string
  @OptionGroup var store: StoreOption
  @OptionGroup var common: CommonOptions

  func run() throws {
    try store.check(file)
    try checkKey(key, file)
    let stored = try withPath { try ArgumentValue.value(value, type) }
    let entry = try common.writing(to: file) { device in
      let write = LocalWrite(store: store.store, key: key, value: stored)
      let others = common.quiet ? [] : try store.others(with: key, on: device)
      for change in try device.write([write]) { warn(of: change, others) }
      return common.json ? try device.entry(store: store.store, key: key) : nil
    }
    guard let entry else { return }
    try common.output.print(Shown.entry(entry), lines: [], isData: false)
  }

  /// Warns if the type has changed, or another store has the key: an application may not find the
  /// value.
  ///
  /// - Parameter others: stores that have the key, too.
  private func warn(of change: SettingChange, _ others: [String]) {
    if change.before.isTombstone, let other = others.first {
      common.output.say(
        "\(file): \(store.store)/\(key) is new; store \(Shown.name(other)) has this key, too")
    }
    guard let old = change.before.value?.kind,
      let new = change.after.value?.kind, old != new
    else { return }
    let cure = ArgumentValue.type(of: old).map { "; to keep the type, write --type \($0)" } ?? ""
    let kinds = "was \(ArgumentValue.kind(old)) and is \(ArgumentValue.kind(new)) now"
    common.output.say("\(file): \(store.store)/\(key) \(kinds)\(cure)")
  }

  private func withPath<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as InputError {
      throw InputError(kind: error.kind, message: "\(file): \(error.message)")
    }
  }
}
