// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

/// The default values that an app's Settings bundle declares.
///
/// Reads `Root.plist` and the panes that it names, and collects `Key` and `DefaultValue` of every
/// specifier. Nothing is written anywhere: a seed is a default, and never replaces a stored value.
///
/// The schema is Apple's "Settings Application Schema Reference", with the freedoms that shipped
/// bundles take: specifiers of other types seed too, a slider's numbers may be integers, and a pane
/// may lie in a folder of the bundle.
public struct SettingsBundle: Sendable {
  /// The name of the bundle's folder, or of the file.
  public let identifier: String
  /// In the order of the panes, a child's where its row stands. No key is there twice.
  public let seeds: [Seed]
  public let warnings: [Warning]
  /// How many property lists were read, `Root.plist` included.
  public var paneCount: Int { panes.count }
  /// The name of the suite that the settings belong to, where the bundle declares an
  /// `ApplicationGroupContainerIdentifier`; nil for the application's own settings.
  public let suite: String?
  /// The panes in the order of `seeds`, each once; a flat table is one pane without specifiers.
  package let panes: [SettingsPane]
  let folder: BundleFolder
  let limits: Limits

  /// A default value and where it stands.
  public struct Seed: Sendable, Hashable {
    public let key: String
    public let value: StoredValue
    /// The path of the file in the bundle, such as `Root.plist`.
    public let file: String
    /// The line of the value, counted from 1.
    public let line: Int
  }

  /// A problem that did not stop the reading.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    let code: PropertyListError.Code
    /// The path of the file in the bundle, such as `Root.plist`.
    public let file: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int
    /// What is wrong and what to do.
    public let message: String

    public var description: String { "\(file):\(line):\(column): \(message)" }
  }

  /// What happens to a specifier that breaks the schema.
  public enum Mode: Sendable, CaseIterable {
    /// The first one is thrown.
    case strict
    /// Each one is a warning. A default that is a scalar seeds as it is written, also where it does
    /// not fit its row; anything else seeds nothing, and of two different defaults of a key the
    /// first counts. A warning is also a child pane that is no well-formed property list, or that
    /// the system does not let us read. What is beyond a limit is still an error, and so is every
    /// trouble with `Root.plist`.
    case lenient
  }

  /// A kind of device. A bundle may have files of its own for each: `Root~ipad.plist` stands for
  /// `Root.plist` on a tablet.
  public enum Idiom: String, Sendable, CaseIterable {
    case phone, pad
  }

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

  init(at path: String, _ options: Options) throws(PropertyListError) {
    let (folder, root) = try BundleFolder.open(path)
    var walk = BundleWalk(folder: folder, options)
    try walk.run(from: root, isBundle: folder.isBundle)
    identifier = folder.identifier
    seeds = walk.seeds
    warnings = walk.warnings
    suite = walk.suite
    panes = walk.panes
    self.folder = folder
    limits = options.limits
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
