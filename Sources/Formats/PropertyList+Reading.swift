// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension PropertyList {
  /// Reads the property list at a path, or the `Root.plist` of a bundle.
  ///
  /// - Throws: `PropertyListError`, before reading if the file is too large or not a regular file.
  package static func read(
    at path: String, limits: PropertyListLimits = PropertyListLimits()
  ) throws(PropertyListError) -> PropertyList {
    let (folder, file) = try BundleFolder.open(path)
    let (bytes, _) = try folder.read(file, real: nil, limit: limits.effectiveBytes)
    return try parse(bytes, file: folder.shownPath(file), limits: limits)
  }
}
