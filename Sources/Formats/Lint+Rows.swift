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
      checkOptional(specifier, pane)
      checkTitles(specifier, pane)
      checkValues(specifier, pane)
      checkSlider(specifier, pane)
      checkSecret(specifier, pane)
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

  private mutating func checkOptional(_ specifier: SettingsSpecifier, _ pane: SettingsPane) {
    for (key, expected) in LintSchema.optional {
      guard LintSchema.keys(of: specifier.kind)?.contains(key) == true,
        let node = specifier.node[key], !expected.holds(for: node)
      else { continue }
      warn(
        .unknownValue, at: Int(node.offset), in: pane, "the Settings app ignores this \(key)",
        cure: expected.cure)
    }
  }

  private mutating func checkTitles(_ specifier: SettingsSpecifier, _ pane: SettingsPane) {
    if specifier.kind.needsTitle, let title = specifier.node["Title"], title.string?.isEmpty == true
    {
      warn(
        .emptyTitle, at: Int(title.offset), in: pane,
        "the title of this \(specifier.kind.name) is empty", cure: "write one")
    }
    if let short = specifier.node["ShortTitles"], specifier.kind == .multiValue,
      short.array?.count != specifier.values?.count
        || short.array?.contains(where: { $0.string == nil }) == true
    {
      warn(
        .shortTitles, at: Int(short.offset), in: pane,
        "ShortTitles does not have one string for each of the Values",
        cure: "add the missing ones, or remove ShortTitles")
    }
  }

  private mutating func checkSlider(_ specifier: SettingsSpecifier, _ pane: SettingsPane) {
    guard specifier.kind == .slider, let lowest = specifier.node["MinimumValue"]?.number,
      let highest = specifier.node["MaximumValue"], let most = highest.number
    else { return }
    if !(lowest < most) {
      warn(
        .sliderRange, at: Int(highest.offset), in: pane,
        "MaximumValue is not above MinimumValue", cure: "change one of them")
    } else if let value = specifier.defaultValue, let number = value.number,
      !(lowest...most).contains(number)
    {
      warn(
        .sliderRange, at: Int(value.offset), in: pane,
        "the DefaultValue is not between MinimumValue and MaximumValue", cure: "change one of them")
    }
  }

  private mutating func checkSecret(_ specifier: SettingsSpecifier, _ pane: SettingsPane) {
    guard specifier.kind == .textField, specifier.node["IsSecure"]?.boolean == true,
      let value = specifier.defaultValue, value.string?.isEmpty != true
    else { return }
    warn(
      .secureDefault, at: Int(value.offset), in: pane,
      "the bundle shows the default of this secure field in plain text",
      cure: "remove the DefaultValue")
  }
}

// MARK: - Choices

extension Lint {
  private mutating func checkValues(_ specifier: SettingsSpecifier, _ pane: SettingsPane) {
    switch specifier.kind {
    case .toggleSwitch:
      checkValues([true, false].map(specifier.switchValue), at: specifier.node, pane)
    case .multiValue, .radioGroup, .titleValue:
      guard let list = specifier.node["Values"] else { return }
      checkValues(list.array ?? [], at: list, pane)
      var titles: Set<ByteText> = []
      for title in specifier.titles ?? [] {
        guard let text = title.string, !titles.insert(ByteText(text)).inserted else { continue }
        warn(
          .repeatedTitle, at: Int(title.offset), in: pane,
          "two of the values have the title \(text.quoted)", cure: "change one")
      }
    default: break
    }
  }

  private mutating func checkValues(
    _ values: [PropertyListNode], at list: PropertyListNode, _ pane: SettingsPane
  ) {
    var seen: Set<StoredValue> = []
    for node in values {
      do throws(Fault) {
        _ = try node.storedValue()
      } catch {
        warn(.unstorableValue, at: error.offset, in: pane, error.what, cure: error.cure)
      }
      guard let value = node.ifStorable, !seen.insert(value).inserted else { continue }
      warn(
        .repeatedValue, at: Int(node.offset), in: pane, "duplicate value",
        cure: "change or remove one")
    }
    if Set(seen.map(\.kind)).count > 1 {
      warn(
        .mixedTypes, at: Int(list.offset), in: pane, "the values have different types",
        cure: "write all with one type")
    }
  }
}
