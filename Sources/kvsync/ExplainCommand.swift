// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Tells every layer's value of a key, and where it came from.",
    discussion: """
      The first layer that has a value wins. What waits, and what lost, is told too. Layers that \
      only an application knows (its arguments, registered defaults, the default of a property) \
      are not in the file.

        kvsync explain laptop.keepsake theme
        kvsync explain laptop.keepsake letter_size --store defaults --json
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The key.") var key: String
  @OptionGroup var store: StoreOption
  @OptionGroup var common: CommonOptions

  func run() throws {
    try store.check(file)
    try checkKey(key, file)
    let explanation = try Explanation(
      of: Address(store: store.store, key: key), on: common.open(file, .readOnly))
    try common.output.print(
      try explanation.json, lines: try explanation.lines, isData: true)
  }
}

/// All that a device knows of one key.
private struct Explanation {
  let address: Address
  let replica: ReplicaID
  let entry: Entry?
  let seeds: [(bundle: String, value: DefaultValue)]
  let held: [Entry]
  let conflicts: [Conflict]

  init(of address: Address, on device: Device) throws {
    self.address = address
    replica = try device.replica()
    let (store, key) = (address.store.string, address.key.string)
    entry = try device.entry(store: store, key: key)
    seeds = try device.declarations(store: store, key: key)
    held = try device.core.access { try Held.entries($0, of: address) }
    conflicts = try device.conflicts(store: store).filter { ByteText($0.key) == address.key }
  }

  private var value: StoredValue? { entry?.content.value ?? seeds.first?.value.value }

  // MARK: - For programs

  var json: JSON {
    get throws {
      let own = try entry.map { [try layer("entry", Shown.entry($0))] } ?? []
      let seeded = try seeds.map { seed in
        try layer("seed", Shown.seed(seed.value), JSON.Member("bundle", .string(seed.bundle)))
      }
      return .object([
        "store": .string(address.store.string), "key": .string(address.key.string),
        "value": try Shown.optional(value), "layers": .array(own + seeded),
        "held": .array(try held.map(Shown.entry)),
        "conflicts": .array(conflicts.map { .integer($0.id) }),
      ])
    }
  }

  private func layer(_ name: String, _ json: JSON, _ more: JSON.Member...) throws -> JSON {
    guard case .object(let members) = json else { return json }
    return .object([JSON.Member("layer", .string(name))] + members + more)
  }

  // MARK: - For people

  var lines: [String] {
    get throws {
      let name = "\(Shown.name(address.store.string))/\(Shown.name(address.key.string))"
      var lines = ["\(name): " + (try value.map { try Shown.quoted($0) } ?? "no value")]
      if let entry {
        lines.append("  \(entry.content.isTombstone ? "deleted" : "set"): \(try told(entry))")
      }
      for (place, seed) in seeds.enumerated() {
        let note = place == 0 ? "" : ", behind a bundle that was seeded later"
        lines.append(
          "  default: \(try Shown.quoted(seed.value.value)), \(Shown.name(seed.value.source))"
            + " of \(Shown.name(seed.bundle))\(note)")
      }
      for entry in held { lines.append("  waiting, from the future: \(try told(entry))") }
      for conflict in conflicts {
        let lost = try conflict.lost.map { try Shown.quoted($0) } ?? "a deletion"
        lines.append(
          "  lost (conflict \(conflict.id)): \(lost), \(Shown.text(conflict.lostStamp))"
            + " by \(device(conflict.lostOrigin))")
      }
      return lines
    }
  }

  private func told(_ entry: Entry) throws -> String {
    let value = try entry.content.value.map { try Shown.quoted($0) + ", " } ?? ""
    return "\(value)\(Shown.text(entry.stamp)) by \(device(entry.origin))"
  }

  private func device(_ id: ReplicaID) -> String {
    id == replica ? "this device" : "device \(id)"
  }
}
