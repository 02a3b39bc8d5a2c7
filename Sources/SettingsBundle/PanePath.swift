// SPDX-License-Identifier: Apache-2.0

/// From `File` of a child pane to a path in the bundle.
enum PanePath {
  /// The path with `.plist` at its end.
  ///
  /// The schema has a bare name; `.plist` at the end and folders are what bundles in the wild add.
  /// Refused: an empty name, an absolute path, `..` anywhere.
  static func file(_ name: String, at offset: Int) throws(Fault) -> String {
    let parts = name.split(separator: "/").filter { $0 != "." }
    guard !name.hasPrefix("/"), !parts.contains("..") else { throw leaving(name, at: offset) }
    let path = parts.joined(separator: "/")
    let stem = path.hasSuffix(".plist") ? String(path.dropLast(6)) : path
    guard !stem.isEmpty, !stem.hasSuffix("/"), !name.hasSuffix("/") else {
      throw Fault(
        .invalidPanePath, at: offset, "File \(name.quoted) names no file",
        cure: "write the name of a property list of the bundle, without .plist")
    }
    return stem + ".plist"
  }

  static func leaving(_ name: String, at offset: Int) -> Fault {
    Fault(
      .invalidPanePath, at: offset, "File \(name.quoted) leads out of the bundle",
      cure: "move the pane into the bundle and write its name")
  }
}
