// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

/// All that a device knows of one key.
package struct KeyReport {
  private let address: Address
  private let replica: ReplicaID
  private let entry: Entry?
  private let seeds: [(bundle: String, value: DefaultValue)]
  private let conflicts: [Conflict]

  package init(of address: Address, on device: Device) throws {
    self.address = address
    replica = try device.replica()
    let (store, key) = (address.store.string, address.key.string)
    entry = try device.entry(store: store, key: key)
    seeds = try device.declarations(store: store, key: key)
    conflicts = try device.conflicts(store: store).filter { ByteText($0.key) == address.key }
  }

  package var hasValue: Bool { value != nil }
  private var value: StoredValue? { entry?.content.value ?? seeds.first?.value.value }

  // MARK: - For programs

  package var json: JSON {
    get throws {
      let own = try entry.map { [try layer("entry", Shown.entry($0))] } ?? []
      let seeded = try seeds.map { seed in
        try layer("seed", Shown.seed(seed.value), JSON.Member("bundle", .string(seed.bundle)))
      }
      return .object([
        "store": .string(address.store.string), "key": .string(address.key.string),
        "value": try value.map { .object(try Shown.value($0)) } ?? .null,
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

  package var lines: [Line] {
    get throws {
      let name = "\(Shown.name(address.store.string))/\(Shown.name(address.key.string))"
      let first: Line =
        try value.map { "\(name, .key): \(try Shown.quoted($0))" }
        ?? "\(name, .key): no value"
      var lines = [first]
      if let entry {
        let verb = entry.content.isTombstone ? "deleted" : "set"
        lines.append("  \(verb): \(try told(entry))")
      }
      for (place, seed) in seeds.enumerated() {
        let note = place == 0 ? "" : ", behind a bundle that was seeded later"
        let value = try Shown.quoted(seed.value.value)
        let source = "\(Shown.name(seed.value.source)) of \(Shown.name(seed.bundle))\(note)"
        lines.append("  default: \(value), \(source)")
      }
      for conflict in conflicts {
        let lost = try Shown.quoted(conflict.loser, or: "a deletion")
        let source = "\(Shown.text(conflict.lostTimestamp)) by \(device(conflict.lostReplicaID))"
        lines.append("  lost (conflict \(conflict.id)): \(lost), \(source)")
      }
      return lines
    }
  }

  private func told(_ entry: Entry) throws -> Line {
    let source = "\(Shown.text(entry.timestamp)) by \(device(entry.replicaID))"
    guard let value = entry.content.value else { return Line(source) }
    return "\(try Shown.quoted(value)), \(source)"
  }

  private func device(_ id: ReplicaID) -> String {
    id == replica ? "this device" : "device \(id)"
  }
}
