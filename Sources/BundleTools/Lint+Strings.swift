// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension Lint {
  /// Checks that each table exists and is readable in each language, with all titles that want a
  /// translation and no others.
  ///
  /// - Parameter texts: every text of the bundle.
  mutating func checkStrings(_ texts: Set<ByteText>) {
    for table in bundle.stringsTables {
      let panes = bundle.panes.filter { $0.stringsTable?.isSame(table) == true }
      let files = read(table)
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
        if let file { checkEntries(of: file, table, language, texts) }
      }
    }
  }

  /// The texts of every property list in the folders of the panes, also of those that another
  /// program reads, such as `Root.inApp.plist`.
  static func texts(in readings: [SettingsBundle]) -> Set<ByteText> {
    var texts: Set<ByteText> = []
    let panes = readings.flatMap(\.panes)
    for pane in panes { pane.root.addTexts(to: &texts) }
    guard let bundle = readings.first, bundle.folder.isBundle else { return texts }
    let known = Set(panes.map { ByteText($0.file) })
    for file in propertyLists(beside: panes, in: bundle.folder)
    where !known.contains(ByteText(file)) {
      do throws(PropertyListError) {
        guard case .inside(let real) = try bundle.folder.locate(file) else { continue }
        let limits = bundle.fileLimits
        let (bytes, _) = try bundle.folder.read(file, real: real, limit: limits.effectiveBytes)
        try PropertyList.parse(bytes, file: file, limits: limits).root.addTexts(to: &texts)
      } catch {
        // No pane of ours: what cannot be read uses nothing.
        continue
      }
    }
    return texts
  }
}

extension Lint {
  /// The languages that have the table; nil for a file that cannot be read.
  private mutating func read(_ table: String) -> [String: StringsFile?] {
    var files: [String: StringsFile?] = [:]
    for language in bundle.languages {
      do throws(PropertyListError) {
        if let file = try bundle.stringsFile(table, language) { files[language] = file }
      } catch {
        files[language] = .some(nil)
        let file = SettingsBundle.path(table, language)
        add(SettingsBundle.Warning(error, file: file), .malformedStrings)
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

  /// A title that no language translates is meant as it is, and plain text needs no entry in
  /// English; a name for a text (`SOUND_TITLE`) does, in every language.
  private mutating func checkTitles(of panes: [SettingsPane], in files: [String: StringsFile]) {
    let tables = files.mapValues { Set($0.entries.map { ByteText($0.key) }) }
    for pane in panes {
      var seen: Set<ByteText> = []
      for node in pane.localizable {
        guard let text = node.string, !text.isEmpty, seen.insert(ByteText(text)).inserted else {
          continue
        }
        var missing = tables.filter { !$0.value.contains(ByteText(text)) }.keys.sorted()
        if !text.isName {
          if missing.count == tables.count { continue }
          missing.removeAll(where: Self.isEnglish)
        }
        guard !missing.isEmpty else { continue }
        warn(
          .untranslatedTitle, at: Int(node.offset), in: pane,
          "\(text.quoted) has no translation in \(missing.joined(separator: ", "))",
          cure: "add it to the strings file")
      }
    }
  }

  private static func isEnglish(_ language: String) -> Bool {
    ["en", "English", "Base"].contains(String(language.prefix { $0 != "-" && $0 != "_" }))
  }

  /// What Xcode's template of a Settings bundle translates, whatever became of its rows.
  private static let template = Set(["Group", "Name", "none given", "Enabled"].map(ByteText.init))

  private mutating func checkEntries(
    of file: StringsFile, _ table: String, _ language: String, _ texts: Set<ByteText>
  ) {
    var seen: Set<ByteText> = []
    for entry in file.entries {
      let key = ByteText(entry.key)
      let (rule, what, cure): (LintRule, String, String)
      if !seen.insert(key).inserted {
        (rule, what, cure) = (.repeatedTranslation, "is translated twice", "keep one of them")
      } else if !texts.contains(key), !Self.template.contains(key) {
        (rule, what, cure) = (.unusedTranslation, "is not a title of a pane", "remove or rename it")
      } else {
        continue
      }
      warn(
        rule, at: entry.offset, in: SettingsBundle.path(table, language),
        file.map?.position(of: entry.offset), file.root?.keyPath(to: entry.offset),
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

extension PropertyListNode {
  /// Recursive: reading has limited the depth.
  fileprivate func addTexts(to texts: inout Set<ByteText>) {
    switch value {
    case .string(let text): texts.insert(ByteText(text))
    case .array(let elements): for element in elements { element.addTexts(to: &texts) }
    case .dictionary(let members): for member in members { member.value.addTexts(to: &texts) }
    default: break
    }
  }
}

extension String {
  /// Whether this names a text, as `SOUND_TITLE` and `settings.sound` do, and is none.
  fileprivate var isName: Bool {
    let bytes = Array(utf8)
    guard !bytes.contains(where: \.isSpace) else { return false }
    return bytes.indices.contains { index in
      bytes[index] == UInt8(ascii: "_")
        || bytes[index] == UInt8(ascii: ".") && index > 0 && index + 1 < bytes.count
          && bytes[index - 1].isLetter && bytes[index + 1].isLetter
    }
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }
}
