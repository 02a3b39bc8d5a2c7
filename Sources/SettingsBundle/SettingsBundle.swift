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
  public let warnings: [Warning]
  /// The number of property lists read, including `Root.plist`.
  public var paneCount: Int { panes.count }
  /// The `ApplicationGroupContainerIdentifier`, which names the suite of the settings; nil for the
  /// application's own settings.
  public let suite: String?
  /// The panes in the order of `seeds`, each once; a flat table is one pane without specifiers.
  package let panes: [SettingsPane]
  package let folder: BundleFolder
  let fileLimits: PropertyListLimits

  /// A default value and its place.
  public struct Seed: Sendable, Hashable {
    /// The key that the row stores under.
    public let key: String
    /// The row's default.
    public let value: StoredValue
    /// The path of the file in the bundle, such as `Root.plist`.
    public let file: String
    /// The file and the line of the value, such as `Root.plist:214`; in a binary property list the
    /// file and the key path.
    public let place: String
  }

  /// A problem that reading tolerated.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    package let code: PropertyListError.Code
    /// The path of the file in the bundle, such as `Root.plist`.
    public let file: String
    /// The place in the file; nil in a binary property list, and if the file could not be read.
    public let position: SourcePosition?
    /// The key path of the place; nil at the root and outside it.
    public let keyPath: String?
    /// The problem and the fix.
    public let message: String
    /// The place, for sorting.
    package let offset: Int

    public var description: String {
      "\(PropertyListError.place(file, position, keyPath)): \(message)"
    }

    /// - Parameter file: the path of the file in the bundle.
    package init(_ error: PropertyListError, file: String) {
      code = error.code
      self.file = file
      position = error.position
      keyPath = error.keyPath
      message = error.message
      offset = error.position?.offset ?? 0
    }

    init(_ fault: Fault, in pane: SettingsPane) {
      code = fault.code
      file = pane.file
      position = pane.map?.position(of: fault.offset)
      keyPath = pane.root.keyPath(to: fault.offset)
      message = fault.message(in: pane.map)
      offset = fault.offset
    }
  }
}
