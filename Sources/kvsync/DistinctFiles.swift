// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// Checks the files of a command line.
enum DistinctFiles {
  /// Throws if a file is named twice. Existing files are compared by identity, before SQLite opens
  /// one under two names; others by folder and name.
  static func check(_ paths: [String]) throws {
    var files: Set<FileID> = []
    var names: Set<ByteText> = []
    for path in paths {
      let url = URL(fileURLWithPath: path)
      let isNew =
        if let file = try FileID(of: path) {
          files.insert(file).inserted
        } else {
          names.insert(
            ByteText("\(String(describing: try folder(of: path))) \(url.lastPathComponent)")
          ).inserted
        }
      guard isNew else {
        throw KeepsakeError(
          .sameFile, path: path, "this file is named twice", cure: "name each file once")
      }
    }
  }

  /// The identity of the folder of a file, which may be missing.
  static func folder(of path: String) throws -> FileID? {
    let name = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    return try FileID(of: name)
  }
}
