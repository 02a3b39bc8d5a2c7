// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

extension SettingsBundle {
  /// Reads the bundle at a path.
  ///
  /// - Parameters:
  ///   - path: A folder with a `Root.plist`; or a property list: with `PreferenceSpecifiers` it
  ///     stands for `Root.plist`, its panes beside it, and any other dictionary is a table of keys
  ///     and defaults.
  ///   - idiom: The device whose files count before those for all; nil for those for all only.
  /// - Throws: `PropertyListError`, its `file` starting with `path`. A pane whose file does not
  ///   exist is a warning in both modes: license panes are often made at build time. So is an
  ///   empty `Key`, which stores nothing.
  public init(
    at path: String, mode: Mode = .strict, idiom: Idiom? = nil, limits: Limits = Limits()
  ) throws(PropertyListError) {
    try self.init(at: path, Options(mode: mode, idiom: idiom, limits: limits))
  }

  package init(at path: String, _ options: Options) throws(PropertyListError) {
    let (folder, root) = try BundleFolder.open(path)
    var walk = BundleWalk(folder: folder, options)
    try walk.run(from: root, isBundle: folder.isBundle)
    identifier = folder.identifier
    seeds = walk.seeds
    warnings = walk.warnings
    suite = walk.suite
    panes = walk.panes
    self.folder = folder
    fileLimits = options.limits.file
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
}

extension SettingsBundle {
  /// The path of a file of the bundle, or a text that starts with it, as the caller would write it.
  package func shownPath(_ file: String) -> String { folder.shownPath(file) }
}
