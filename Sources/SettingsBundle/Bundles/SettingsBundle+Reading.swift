// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

extension SettingsBundle {
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

  /// A path within the bundle, or a text that starts with one, prefixed by the caller's path.
  package func shownPath(_ file: String) -> String { folder.shownPath(file) }
}
