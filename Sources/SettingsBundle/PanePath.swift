// SPDX-License-Identifier: Apache-2.0

/// From `File` of a child pane to a path in the bundle.
package enum PanePath {
  /// The path with `.plist` at its end.
  ///
  /// The schema has a bare name; `.plist` at the end and folders are what bundles in the wild add.
  /// Refused: an empty name, an absolute path, `..` anywhere. All by bytes, as the file system
  /// reads it: a `/` with a combining mark behind it is another `Character`.
  package static func file(_ name: String, at offset: Int) throws(Fault) -> String {
    let slash = UInt8(ascii: "/")
    let parts = name.utf8.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    guard name.utf8.first != slash, !parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
      throw leaving(name, at: offset)
    }
    var stem = Array(parts.joined(separator: CollectionOfOne(slash)))[...]
    let suffix = ".plist".utf8
    if stem.suffix(suffix.count).elementsEqual(suffix) { stem = stem.dropLast(suffix.count) }
    guard let last = stem.last, last != slash, name.utf8.last != slash else {
      throw Fault(
        .invalidPanePath, at: offset, "File \(name.quoted) names no file",
        cure: "write the name of a property list of the bundle, without .plist")
    }
    return String(decoding: stem, as: UTF8.self) + ".plist"
  }

  static func leaving(_ name: String, at offset: Int) -> Fault {
    Fault(
      .invalidPanePath, at: offset, "File \(name.quoted) leads out of the bundle",
      cure: "move the pane into the bundle and write its name")
  }
}
