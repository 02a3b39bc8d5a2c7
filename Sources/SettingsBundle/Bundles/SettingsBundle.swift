// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

/// The default values that an app's Settings bundle declares.
///
/// Reads `Root.plist` and its child panes, and collects `Key` and `DefaultValue` of every
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
  /// The harmless faults of the bundle, in the order of the rows.
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

  // MARK: - Reading

  /// Reads the bundle at a path.
  ///
  /// - Parameters:
  ///   - path: A folder with a `Root.plist`, or a property list. A property list with
  ///     `PreferenceSpecifiers` is read as a `Root.plist` with its panes in the same folder, any
  ///     other dictionary as a flat table of keys and defaults.
  ///   - idiom: The device whose variants of files are preferred; nil ignores variants.
  /// - Throws: `PropertyListError`, its `file` starting with `path`. A missing pane is a warning in
  ///   both modes, because license panes are often generated at build time. So is an empty `Key`,
  ///   which stores nothing.
  public init(
    at path: String, mode: Mode = .strict, idiom: Idiom? = nil, limits: Limits = Limits()
  ) throws(PropertyListError) {
    let (folder, root) = try BundleFolder.open(path)
    var walk = BundleWalk(folder: folder, mode: mode, idiom: idiom, limits: limits)
    try walk.run(from: root, isBundle: folder.isBundle)
    identifier = folder.identifier
    seeds = walk.seeds
    warnings = walk.warnings
    suite = walk.suite
    panes = walk.panes
    self.folder = folder
  }

  /// Reads the bundle at a file URL; see `init(at:mode:idiom:limits:)` for a path.
  public init(
    at url: URL, mode: Mode = .strict, idiom: Idiom? = nil, limits: Limits = Limits()
  ) throws(PropertyListError) {
    guard url.isFileURL else {
      throw PropertyListError(
        .notAFile, file: url.absoluteString, "this is not a file URL",
        cure: "copy the bundle to a disk and name its path")
    }
    try self.init(at: url.path, mode: mode, idiom: idiom, limits: limits)
  }

  /// Prefixes the caller's path to a path within the bundle, or to a text that starts with one.
  package func shownPath(_ file: String) -> String { folder.shownPath(file) }
}
