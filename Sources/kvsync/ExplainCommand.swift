// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

struct ExplainCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows the value of a key in every layer, and where it came from.",
    discussion: """
      The first layer that has a value wins. It also prints the key's open conflicts. Layers that \
      only an application knows (its arguments, registered defaults, the default of a property) \
      are not in the file.

        kvsync explain laptop.keepsake theme
        kvsync explain laptop.keepsake letter_size --store defaults --json
      """)

  @OptionGroup var setting: SettingArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    try setting.check()
    let device = try common.open(setting.file, .readOnly)
    let report = try KeyReport(of: setting, on: device)
    try common.output.print(
      try report.json, lines: try report.lines, isData: true)
    if report.hasValue || common.quiet { return }
    for other in try setting.otherStores(on: device) {
      common.output.say("\(setting.file): store \(other.quotedIfNeeded) has this key")
    }
  }
}

/// All that a device knows of one key.
private struct KeyReport {
  private let store: String
  private let key: String
  private let replica: ReplicaID
  private let entry: Entry?
  private let seeds: [(bundle: String, value: DefaultValue)]
  private let conflicts: [Conflict]

  init(of setting: SettingArguments, on device: Device) throws {
    (store, key) = (setting.store, setting.key)
    replica = try device.replica()
    entry = try setting.entry(on: device)
    seeds = try device.declarations(store: store, key: key)
    conflicts = try device.conflicts(store: store).filter { $0.key.isSameBytes(as: setting.key) }
  }

  var hasValue: Bool { value != nil }
  private var value: StoredValue? { entry?.content.value ?? seeds.first?.value.value }

  // MARK: - For programs

  var json: JSON {
    get throws {
      let own = try entry.map { [try layer("entry", .entry($0))] } ?? []
      let seeded = try seeds.map { seed in
        try layer("seed", .seed(seed.value), JSON.Member("bundle", .string(seed.bundle)))
      }
      return .object([
        "store": .string(store), "key": .string(key),
        "value": try value.map { .object(try JSON.typeAndValue(of: $0)) } ?? .null,
        "layers": .array(own + seeded),
        "conflicts": .array(conflicts.map { .integer($0.id) }),
      ])
    }
  }

  private func layer(_ name: String, _ json: JSON, _ more: JSON.Member...) throws -> JSON {
    guard case .object(let members) = json else { return json }
    return .object([JSON.Member("layer", .string(name))] + members + more)
  }

  // MARK: - For people

  var lines: [OutputLine] {
    get throws {
      let name = "\(store.quotedIfNeeded)/\(key.quotedIfNeeded)"
      let first: OutputLine =
        try value.map { "\(name, .key): \(try EscapedJSON($0))" }
        ?? "\(name, .key): no value"
      var lines = [first]
      if let entry {
        let verb = entry.content.isTombstone ? "deleted" : "set"
        lines.append("  \(verb): \(try told(entry))")
      }
      for (place, seed) in seeds.enumerated() {
        let note = place == 0 ? "" : ", behind a bundle that was seeded later"
        let value = try EscapedJSON(seed.value.value)
        let source = "\(seed.value.source.quotedIfNeeded) of \(seed.bundle.quotedIfNeeded)\(note)"
        lines.append("  default: \(value), \(source)")
      }
      for conflict in conflicts {
        let lost = try OutputLine(conflict.loser, or: "a deletion")
        let source = "\(conflict.lostTimestamp.date.iso8601) by \(device(conflict.lostReplicaID))"
        lines.append("  lost (conflict \(conflict.id)): \(lost), \(source)")
      }
      return lines
    }
  }

  private func told(_ entry: Entry) throws -> OutputLine {
    let source = "\(entry.timestamp.date.iso8601) by \(device(entry.replicaID))"
    guard let value = entry.content.value else { return OutputLine(source) }
    return "\(try EscapedJSON(value)), \(source)"
  }

  private func device(_ id: ReplicaID) -> String {
    id == replica ? "this device" : "device \(id)"
  }
}
