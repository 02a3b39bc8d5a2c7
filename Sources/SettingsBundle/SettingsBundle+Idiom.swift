// SPDX-License-Identifier: Apache-2.0

extension SettingsBundle {
  /// How to read a bundle.
  struct Options {
    var mode = Mode.strict
    var idiom: Idiom?
    var limits = Limits()
    /// Whether a specifier has all its faults reported, not only the first.
    var findsAll = false
  }
}

extension SettingsBundle {
  /// The path of a file of the bundle, or a text that starts with it, as the caller would write it.
  package func shownPath(_ file: String) -> String { folder.shownPath(file) }

  /// The same for the bundle at a path.
  package static func shownPath(
    of file: String, at path: String
  ) throws(PropertyListError) -> String {
    try BundleFolder.open(path).0.shownPath(file)
  }
}

extension SettingsBundle.Idiom {
  /// The file that stands for `file`, a name that ends with `.plist`.
  func variant(of file: String) -> String {
    "\(file.dropLast(6))~\(suffix).plist"
  }

  /// How file names call it.
  var suffix: String { self == .phone ? "iphone" : "ipad" }

  /// How `SupportedUserInterfaceIdioms` calls it.
  package var schemaName: String { self == .phone ? "Phone" : "Pad" }
}
