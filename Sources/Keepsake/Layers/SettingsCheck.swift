// SPDX-License-Identifier: Apache-2.0
//
// Whether a settings class and a Settings bundle declare the same: for one line in an application's
// unit tests, since nothing else would notice a key that was renamed on one side only.

public import KeepsakeSettingsBundle
import KeepsakeValues

/// One way in which a settings class and a Settings bundle do not fit.
public struct SettingsDifference: Sendable, Hashable, CustomStringConvertible {
  /// In which way they do not fit.
  public enum Kind: Sendable, Hashable {
    /// A setting that no row of the bundle changes.
    case noSpecifier
    /// A row of the bundle that no setting reads.
    case noProperty
    /// A row stores a value that the setting cannot read.
    case typesDisagree
    /// A stored property that is no `Setting`, so that it is not in the store.
    case notASetting
  }

  /// In which way.
  public let kind: Kind
  /// The key; for a property that is no setting, its name.
  public let key: String
  /// One sentence: where it is, what is wrong and what to do.
  public let description: String
}

extension SettingsStore {
  /// How this class and a Settings bundle differ; empty when they fit.
  ///
  /// ```swift
  /// @Test func settingsAreThoseOfTheBundle() throws {
  ///   let bundle = try SettingsBundle(at: settingsBundleURL)
  ///   #expect(try AppSettings(on: .inMemory()).differences(from: bundle) == [])
  /// }
  /// ```
  ///
  /// A row fits a setting when the setting can read its default and each of its choices; for a
  /// slider any real in its range too; for a text field the empty text too, which is there when the
  /// user clears the field. Reads and writes nothing.
  ///
  /// Members of a setting that is stored member by member count as settings. What has no
  /// counterpart on purpose is left out by a filter:
  /// `differences(from: bundle).filter { $0.key != "runs" }`.
  ///
  /// - Parameter bundle: what the Settings application shows.
  /// - Returns: properties in the order of their declaration, then rows without one in the
  ///   bundle's.
  public func differences(from bundle: SettingsBundle) -> [SettingsDifference] {
    let rows = bundle.declarations
    let properties = storedProperties
    let keys = Set(properties.flatMap(\.keys).map { ByteText($0.key) })
    let missing = rows.filter { !keys.contains(ByteText($0.key)) }
    return properties.flatMap { $0.differences(from: rows) }
      + missing.map(SettingsDifference.init)
  }
}

extension StoredProperty {
  fileprivate func differences(from rows: [SettingsBundle.Declaration]) -> [SettingsDifference] {
    guard setting != nil else {
      return [
        SettingsDifference(
          kind: .notASetting, key: key,
          description: "\"\(key)\" is a stored property but no Setting, so it is not kept;"
            + " declare it with @Setting, or compute it")
      ]
    }
    return keys.flatMap { $0.differences(from: rows) }
  }
}

extension DeclaredKey {
  fileprivate func differences(from rows: [SettingsBundle.Declaration]) -> [SettingsDifference] {
    let own = rows.filter { ByteText($0.key) == ByteText(key) }
    if own.isEmpty {
      return [
        SettingsDifference(
          kind: .noSpecifier, key: key,
          description: "the setting \"\(key)\" has no row in the bundle; add one, or fix the key")
      ]
    }
    return own.compactMap { row in
      let problems = row.values.compactMap(problem)
      return problems.first.map {
        SettingsDifference(
          kind: .typesDisagree, key: key,
          description:
            "\(row.place): the setting \"\(key)\" cannot read what this row stores: \($0)")
      }
    }
  }
}

extension SettingsDifference {
  fileprivate init(_ row: SettingsBundle.Declaration) {
    self.init(
      kind: .noProperty, key: row.key,
      description: "\(row.place): no setting has the key \"\(row.key)\";"
        + " declare one, or fix the key")
  }
}
