// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

/// The default values that an app's Settings bundle declares.
///
/// Reads `Root.plist` and the panes that it names, and collects `Key` and `DefaultValue` of every
/// specifier. It writes nothing: a seed is a default and never replaces a stored value.
///
/// The schema is Apple's "Settings Application Schema Reference", extended by what published
/// bundles do: specifiers of other types seed too, a slider's numbers may be integers, and panes
/// may be in subfolders.
public struct SettingsBundle: Sendable {
  /// The name of the bundle's folder, or of the file.
  public let identifier: String
  /// The defaults in the order of the rows, a child pane's at its row. Keys are unique.
  public let seeds: [Seed]
  /// What is odd in the bundle and does no harm, in the order of the rows.
  public let warnings: [PropertyListError]
  /// The number of property lists read, including `Root.plist`.
  public var paneCount: Int { panes.count }
  /// The `ApplicationGroupContainerIdentifier`, which names the suite of the settings; nil for the
  /// application's own settings.
  public let suite: String?
  /// The panes in the order of `seeds`, each once; a flat table is one pane without specifiers.
  package let panes: [SettingsPane]
  package let folder: BundleFolder

  /// A default value and its place.
  public struct Seed: Sendable, Hashable {
    /// The key that the row stores under.
    public let key: String
    /// The row's default.
    public let value: StoredValue
    /// The file and the line of the value, such as `Root.plist:214`; in a binary property list the
    /// file and the key path.
    public let place: String
  }
}
