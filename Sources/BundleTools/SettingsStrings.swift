// SPDX-License-Identifier: Apache-2.0
//
// Which translation a title gets, as `CFBundleCopyLocalizedString` does it: the pane names a table
// (`StringsTable`), the table is a file in the folder of a language, and a title that the table
// does not have stands for itself.

package import KeepsakeSettingsBundle
import KeepsakeValues

/// The titles of a bundle in one language.
package struct SettingsStrings: Sendable {
  private var tables: [ByteText: [ByteText: String]] = [:]

  /// Titles as the panes have them.
  package init() {}

  /// What to show for a title, a footer or another localisable text of a pane.
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
  /// The languages that the bundle has a folder for, in order.
  package var languages: [String] {
    folder.names().filter { $0.hasSuffix(".lproj") }.map { String($0.dropLast(6)) }
  }

  /// The tables that the panes name, each once, in their order.
  var stringsTables: [String] {
    var seen: Set<ByteText> = []
    return panes.compactMap(\.stringsTable).filter { seen.insert(ByteText($0)).inserted }
  }

  /// The titles in a language: each table from the first folder that has it, of the language, its
  /// parents (`pt` for `pt-BR`), English and `Base`.
  ///
  /// - Parameter language: as folders and BCP 47 name it; nil for English.
  /// - Returns: a warning for each table that exists and cannot be read.
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

  /// - Returns: nil if there is no such file in the bundle.
  func stringsFile(
    _ table: String, _ language: String
  ) throws(PropertyListError) -> StringsFile? {
    // The name of a table is no path.
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

  /// Folders are written `pt-BR` and `pt_BR`.
  private static func isSame(_ folder: String, _ language: String) -> Bool {
    folder.replacing("_", with: "-").lowercased() == language.lowercased()
  }
}
