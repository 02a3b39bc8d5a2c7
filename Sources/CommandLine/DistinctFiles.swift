// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// Several files on one command line.
package enum DistinctFiles {
  /// Throws when one is named twice: by identity for files that are there, before SQLite opens one
  /// under two names; by folder and name for the others.
  package static func check(_ paths: [String]) throws {
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

  /// The identity of the folder of a file that need not be there.
  static func folder(of path: String) throws -> FileID? {
    let name = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    return try FileID(of: name)
  }
}
