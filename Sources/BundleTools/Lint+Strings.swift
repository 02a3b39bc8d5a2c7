// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension Lint {
  /// Checks that each table exists and is readable in each language, with all titles and no others.
  mutating func checkStrings() {
    for table in bundle.stringsTables {
      let panes = bundle.panes.filter { $0.stringsTable?.isSame(table) == true }
      let files = read(table, isRequired: true)
      if files.isEmpty {
        for pane in panes { warnMissing(table, "any .lproj folder", pane) }
        continue
      }
      // A folder without any table may be there for storyboards or other resources.
      for language in bundle.languages where files[language] == nil && hasTables(language) {
        for pane in panes { warnMissing(table, "\(language).lproj", pane) }
      }
      checkTitles(of: panes, in: files.compactMapValues { $0 })
      for (language, file) in files {
        if let file { checkEntries(of: file, table, language, panes) }
      }
    }
  }
}

extension Lint {
  /// The languages that have the table; nil for a file that cannot be read.
  private mutating func read(_ table: String, isRequired: Bool) -> [String: StringsFile?] {
    var files: [String: StringsFile?] = [:]
    for language in bundle.languages {
      do throws(PropertyListError) {
        if let file = try bundle.stringsFile(table, language) { files[language] = file }
      } catch {
        files[language] = .some(nil)
        add(SettingsBundle.Warning(error, file: SettingsBundle.path(table, language)))
      }
    }
    return files
  }

  private func hasTables(_ language: String) -> Bool {
    bundle.folder.names(in: "\(language).lproj").contains { $0.hasSuffix(".strings") }
  }

  private mutating func warnMissing(_ table: String, _ place: String, _ pane: SettingsPane) {
    guard let node = pane.root["StringsTable"] else { return }
    warn(
      .missingStrings, at: Int(node.offset), in: pane,
      "there is no \((table + ".strings").quoted) in \(place)",
      cure: "add it, or remove StringsTable")
  }

  private mutating func checkTitles(of panes: [SettingsPane], in files: [String: StringsFile]) {
    let tables = files.mapValues { Set($0.entries.map { ByteText($0.key) }) }
    for pane in panes {
      var seen: Set<ByteText> = []
      for node in pane.localizable {
        guard let text = node.string, !text.isEmpty, seen.insert(ByteText(text)).inserted else {
          continue
        }
        let missing = tables.filter { !$0.value.contains(ByteText(text)) }.keys.sorted()
        guard !missing.isEmpty else { continue }
        warn(
          .untranslatedTitle, at: Int(node.offset), in: pane,
          "\(text.quoted) has no translation in \(missing.joined(separator: ", "))",
          cure: "add it to the strings file")
      }
    }
  }

  private mutating func checkEntries(
    of file: StringsFile, _ table: String, _ language: String, _ panes: [SettingsPane]
  ) {
    let used = Set(panes.flatMap(\.localizable).compactMap { $0.string.map { ByteText($0) } })
    var seen: Set<ByteText> = []
    for entry in file.entries {
      let (rule, what, cure): (LintRule, String, String)
      if !seen.insert(ByteText(entry.key)).inserted {
        (rule, what, cure) = (.repeatedTranslation, "is translated twice", "keep one of them")
      } else if !used.contains(ByteText(entry.key)) {
        (rule, what, cure) = (.unusedTranslation, "is not a title of a pane", "remove or rename it")
      } else {
        continue
      }
      warn(
        rule, in: SettingsBundle.path(table, language), file.map.position(of: entry.offset),
        "\(entry.key.quoted) \(what); \(cure)")
    }
  }
}

extension SettingsPane {
  /// The texts that a strings table translates, in the order of the rows.
  var localizable: [PropertyListNode] {
    let texts = specifiers.flatMap { specifier in
      [specifier.node["Title"], specifier.node["FooterText"]].compactMap { $0 }
        + ["Titles", "ShortTitles"].flatMap { specifier.node[$0]?.array ?? [] }
    }
    return [root["Title"]].compactMap { $0 } + texts
  }
}
