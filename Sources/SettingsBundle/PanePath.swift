// SPDX-License-Identifier: Apache-2.0

/// Turns `File` of a child pane into a path within the bundle.
package enum PanePath {
  /// The path with the extension `.plist`.
  ///
  /// The schema requires a bare name; published bundles also write `.plist` and folders. Works on
  /// bytes, as the file system does: a `/` followed by a combining mark is another `Character`.
  ///
  /// - Throws: `Fault` for an empty name, an absolute path, or `..` anywhere.
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
        .invalidPanePath, at: offset, "File \(name.quoted) is not a file name",
        cure: "write the name of a property list in the bundle, without .plist")
    }
    return String(decoding: stem, as: UTF8.self) + ".plist"
  }

  static func leaving(_ name: String, at offset: Int) -> Fault {
    Fault(
      .invalidPanePath, at: offset, "File \(name.quoted) is outside the bundle",
      cure: "move the pane into the bundle and write its name")
  }
}
