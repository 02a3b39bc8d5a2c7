// SPDX-License-Identifier: Apache-2.0
//
// Translates titles as `CFBundleCopyLocalizedString` does: the pane names a table (`StringsTable`),
// the table is a file in the folder of a language, and a title without a translation is shown as
// is.

package import KeepsakeSettingsBundle
import KeepsakeValues

/// The titles of a bundle in one language.
package struct SettingsStrings: Sendable {
  private var tables: [ByteText: [ByteText: String]] = [:]

  /// Without translations.
  package init() {}

  /// The translation of a title, a footer or another localisable text of a pane; else the text.
  package func text(_ text: String, in pane: SettingsPane) -> String {
    guard let table = pane.stringsTable else { return text }
    return tables[ByteText(table)]?[ByteText(text)] ?? text
  }

  mutating func add(_ file: StringsFile, as table: String) {
    let pairs = file.entries.map { (ByteText($0.key), $0.value) }
    tables[ByteText(table)] = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}

extension SettingsBundle {
  /// The languages with a folder in the bundle, sorted.
  package var languages: [String] {
    folder.names().filter { $0.hasSuffix(".lproj") }.map { String($0.dropLast(6)) }
  }

  /// The tables that the panes name, each once, in the order of the panes.
  var stringsTables: [String] {
    var seen: Set<ByteText> = []
    return panes.compactMap(\.stringsTable).filter { seen.insert(ByteText($0)).inserted }
  }

  /// The titles in a language. Each table comes from the first folder that has it: that of the
  /// language, of its parents (`pt` for `pt-BR`), of English, or `Base`.
  ///
  /// - Parameter language: a BCP 47 tag; nil for English.
  /// - Returns: the titles, and a warning for each table that exists and cannot be read.
  package func strings(for language: String? = nil) -> (SettingsStrings, [Warning]) {
    var strings = SettingsStrings()
    var warnings: [Warning] = []
    let folders = languages
    for table in stringsTables {
      for candidate in Self.fallbacks(for: language) {
        guard let folder = folders.first(where: { Self.isSame($0, candidate) }) else { continue }
        do throws(PropertyListError) {
          guard let file = try stringsFile(table, folder) else { continue }
          strings.add(file, as: table)
        } catch {
          warnings.append(Warning(error, file: Self.path(table, folder)))
        }
        break
      }
    }
    return (strings, warnings)
  }

  /// - Returns: nil if the bundle has no such file.
  func stringsFile(
    _ table: String, _ language: String
  ) throws(PropertyListError) -> StringsFile? {
    // The name of a table is not a path.
    guard !table.isEmpty, !table.utf8.contains(UInt8(ascii: "/")) else { return nil }
    let file = Self.path(table, language)
    guard case .inside(let real) = try folder.locate(file) else { return nil }
    let (bytes, _) = try folder.read(file, real: real, limit: fileLimits.effectiveBytes)
    return try StringsFile.parse(bytes, file: folder.shownPath(file), limits: fileLimits)
  }

  static func path(_ table: String, _ language: String) -> String {
    "\(language).lproj/\(table).strings"
  }

  private static func fallbacks(for language: String?) -> [String] {
    var parts = (language ?? "").split { $0 == "-" || $0 == "_" }
    var names: [String] = []
    while !parts.isEmpty {
      names.append(parts.joined(separator: "-"))
      parts.removeLast()
    }
    return names + ["en", "English", "Base"]
  }

  /// Folders may be named `pt-BR` or `pt_BR`.
  private static func isSame(_ folder: String, _ language: String) -> Bool {
    folder.replacing("_", with: "-").lowercased() == language.lowercased()
  }
}
