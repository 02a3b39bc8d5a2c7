// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

struct ListCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists what a device holds.",
    discussion: """
      Prints one line a key: store, key, type and value, separated by tabs; values as JSON.

        kvsync list phone.keepsake
        kvsync list phone.keepsake --store defaults --defaults --json
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "Only this store. (default: all)") var store: String?
  @Option(help: "Only keys that start with this.") var prefix = ""
  @Flag(help: "Deleted keys of synced stores too.") var deleted = false
  @Flag(help: "Seeded defaults too.") var defaults = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try checkStore(store, of: file)
    let device = try common.open(file, .readOnly)
    if common.json {
      var entries: [Entry] = []
      try forEachEntry(of: device) { entries.append($0) }
      return Output.standardOutput([OutputLine(try json(device, entries, seeds(device)))])
    }
    try Output.printLines { write in
      try forEachEntry(of: device) { write(try line($0)) }
      for (store, seeds) in try seeds(device) {
        for seed in seeds { write(try seedLine(store, seed)) }
      }
    }
  }

  private func forEachEntry(of device: Device, _ body: (Entry) throws -> Void) throws {
    var count = 0
    try device.forEachEntry(store: store, prefix: prefix) { entry in
      guard deleted || !entry.content.isTombstone else { return }
      try body(entry)
      count += 1
      ProgressLine.count(count, "read")
    }
  }

  private typealias StoreSeeds = (store: String, seeds: [DefaultValue])

  private func seeds(_ device: Device) throws -> [StoreSeeds] {
    guard defaults else { return [] }
    let stores = try store.map { [$0] } ?? device.seededStores()
    return try stores.map { name in
      (
        name,
        try device.defaults(store: name).filter { $0.key.utf8.starts(with: prefix.utf8) }
      )
    }.filter { !$0.seeds.isEmpty }
  }

  private func json(_ device: Device, _ entries: [Entry], _ seeds: [StoreSeeds]) throws -> JSON {
    var stores: [(name: ByteText, members: [JSON.Member])] = []
    for entry in entries {
      if stores.last?.name != entry.address.store { stores.append((entry.address.store, [])) }
      stores[stores.count - 1].members.append(
        JSON.Member(entry.address.key.string, try JSON.entry(entry)))
    }
    let seeded = try seeds.map { store, seeds in
      JSON.Member(store, .object(try seeds.map { JSON.Member($0.key, try JSON.seed($0)) }))
    }
    return .object([
      "replica": .string(try device.replica().description),
      "stores": .object(stores.map { JSON.Member($0.name.string, .object($0.members)) }),
      "defaults": defaults ? .object(seeded) : nil,
    ])
  }

  private func line(_ entry: Entry) throws -> OutputLine {
    let (store, key) = (entry.address.store.string, entry.address.key.string)
    let address = "\(store.quotedIfNeeded)\t\(key.quotedIfNeeded)"
    guard let value = entry.content.value else { return "\(address, .key)\tdeleted\t" }
    return "\(address, .key)\t\(value.kind.rawValue)\t\(try EscapedJSON(value))"
  }

  private func seedLine(_ store: String, _ seed: DefaultValue) throws -> OutputLine {
    let address = "\(store.quotedIfNeeded)\t\(seed.key.quotedIfNeeded)"
    let value = try EscapedJSON(seed.value)
    let kind = seed.value.kind.rawValue
    return "\(address, .key)\t\(kind)\t\(value)\tdefault, \(seed.source.quotedIfNeeded)"
  }
}
