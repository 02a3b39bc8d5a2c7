// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension Lint {
  mutating func checkRows(of pane: SettingsPane) {
    checkKeys(of: pane.root, among: LintSchema.paneKeys, "a pane", pane)
    for specifier in pane.specifiers where specifier.kind != .malformed {
      if case .other(let type) = specifier.kind, let node = specifier.node["Type"] {
        warn(
          .unknownType, at: Int(node.offset), in: pane,
          "the Settings app does not show rows of type \(type.quoted)",
          cure: "use one of its types, or ignore this if another program shows the row")
      }
      if let keys = LintSchema.keys(of: specifier.kind) {
        checkKeys(of: specifier.node, among: keys, "a \(specifier.kind.name)", pane)
      }
    }
  }

  private mutating func checkKeys(
    of node: PropertyListNode, among known: Set<String>, _ owner: String, _ pane: SettingsPane
  ) {
    // A flat table has keys of its own.
    guard node["PreferenceSpecifiers"] != nil || node["Type"] != nil else { return }
    for member in node.members ?? []
    where !known.contains(where: member.key.isSame) {
      // InAppSettingsKit reads the same files and prefixes its own keys.
      if member.key.hasPrefix("IASK") { continue }
      let similar = known.sorted().first { $0.lowercased() == member.key.lowercased() }
      warn(
        .unknownKey, at: Int(member.keyOffset), in: pane,
        "\(owner) has no key \(member.key.quoted)",
        cure: similar.map { "write \($0)" } ?? "remove it")
    }
  }
}
