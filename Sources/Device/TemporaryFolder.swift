// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A new folder for its owner alone, deleted with everything in it when this object goes.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// - Throws: `KeepsakeError` when the system's temporary folder cannot be written.
  package init() throws(KeepsakeError) {
    let parent = FileManager.default.temporaryDirectory.path
    let path = parent + "/keepsake-" + UUID().uuidString
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw KeepsakeError(
        .cannotCreate, path: path, "the temporary folder cannot be made (\(error))",
        cure: "set TMPDIR to a folder that you can write to", cause: error)
    }
    self.path = path
  }

  deinit {
    // The system empties its temporary folder in the end; there is nobody left to tell.
    Result { try FileManager.default.removeItem(atPath: path) }.discardFailure()
  }
}

extension Result {
  /// Says that a failure is of no consequence here; the caller's comment says why.
  package func discardFailure() {}
}
