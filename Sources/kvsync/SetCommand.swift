// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeDevice
import KeepsakeValues

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets a key; makes the file when it is missing.",
    discussion: """
      A value that starts with - follows --.

        kvsync set phone.keepsake theme dark
        kvsync set phone.keepsake volume 0.5 --type real --store defaults
        kvsync set phone.keepsake offset --type integer -- -3
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @Argument(help: "The value.") var value: String
  @Option(help: "How to read the value.") var type = Words.ValueType.string
  @OptionGroup var store: StoreOption
  @OptionGroup var common: CommonOptions

  func run() throws {
    try store.check(file)
    try checkKey(key, file)
    let stored = try withPath { try Words.value(value, type) }
    let entry = try common.writing(to: file) { device in
      try device.write([LocalWrite(store: store.store, key: key, value: stored)])
      return common.json ? try device.entry(store: store.store, key: key) : nil
    }
    guard let entry else { return }
    try common.output.print(Shown.entry(entry), lines: [], isData: false)
  }

  private func withPath<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as InputError {
      throw InputError(kind: error.kind, message: "\(file): \(error.message)")
    }
  }
}
