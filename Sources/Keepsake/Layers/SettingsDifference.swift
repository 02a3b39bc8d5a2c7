// SPDX-License-Identifier: Apache-2.0
//
// Compares a settings class with a Settings bundle, in one line of an application's unit tests:
// nothing else would notice a key that was renamed on one side only.

public import KeepsakeSettingsBundle
import KeepsakeValues

/// A difference between a settings class and a Settings bundle.
public struct SettingsDifference: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a difference.
  public enum Kind: Sendable, Hashable {
    /// A setting without a row in the bundle.
    case noSpecifier
    /// A row of the bundle without a setting.
    case noProperty
    /// A row stores a value that the setting cannot read.
    case typesDisagree
    /// A stored property that is no `Setting`, so that it is not in the store.
    case notASetting
  }

  /// The kind of the difference.
  public let kind: Kind
  /// The key; for a property that is no setting, its name.
  public let key: String
  /// One sentence: where it is, what is wrong and what to do.
  public let description: String

  fileprivate init(_ kind: Kind, _ key: String, _ description: String) {
    (self.kind, self.key, self.description) = (kind, key, description)
  }
}

extension SettingsStore {
  /// The differences between this class and a Settings bundle; empty if there are none.
  ///
  /// ```swift
  /// @Test func settingsAreThoseOfTheBundle() throws {
  ///   let bundle = try SettingsBundle(at: settingsBundleURL)
  ///   #expect(try AppSettings(on: .inMemory()).differences(from: bundle) == [])
  /// }
  /// ```
  ///
  /// A row matches a setting if the setting can read the row's default and each of its choices; for
  /// a slider also any real in its range; for a text field also the empty text, which the Settings
  /// application stores when the user clears the field. Reads and writes no settings.
  ///
  /// Members of a setting that is stored member by member count as settings. To ignore an intended
  /// difference, use a filter: `differences(from: bundle).filter { $0.key != "runs" }`.
  ///
  /// - Parameter bundle: the bundle that the Settings application shows.
  /// - Returns: properties in the order of their declaration, then rows without one in the
  ///   bundle's.
  public func differences(from bundle: SettingsBundle) -> [SettingsDifference] {
    let rows = bundle.declarations
    let properties = storedProperties
    let keys = Set(properties.flatMap(\.keys).map { ByteText($0.key) })
    let missing = rows.filter { !keys.contains(ByteText($0.key)) }.map { row in
      SettingsDifference(
        .noProperty, row.key,
        "\(row.place): no setting has the key \"\(row.key)\"; declare one, or fix the key")
    }
    return properties.flatMap { property -> [SettingsDifference] in
      guard property.setting == nil else {
        return property.keys.flatMap { $0.differences(from: rows) }
      }
      let description =
        "\"\(property.key)\" is a stored property but no Setting, so it is not in the store;"
        + " declare it with @Setting, or compute it"
      return [SettingsDifference(.notASetting, property.key, description)]
    } + missing
  }
}

extension DeclaredKey {
  fileprivate func differences(from rows: [SettingsBundle.Declaration]) -> [SettingsDifference] {
    let own = rows.filter { ByteText($0.key) == ByteText(key) }
    guard !own.isEmpty else {
      let description =
        "the setting \"\(key)\" has no row in the bundle; add one, or fix the key"
      return [SettingsDifference(.noSpecifier, key, description)]
    }
    return own.compactMap { row in
      row.values.lazy.compactMap(problem).first.map {
        SettingsDifference(
          .typesDisagree, key,
          "\(row.place): the setting \"\(key)\" cannot read what this row stores: \($0)")
      }
    }
  }
}
