// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A new folder for its owner alone, deleted with everything in it when this object goes.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// - Throws: `KeepsakeError` when the system's temporary folder cannot be written.
  package init() throws(KeepsakeError) {
    let path = Self.parent + "/keepsake-" + UUID().uuidString
    guard mkdir(path, 0o700) == 0 else {
      let code = errno
      if code == ENOSPC || code == EDQUOT { throw KeepsakeError(system: code, path: Self.parent) }
      throw KeepsakeError(
        .cannotCreate, path: Self.parent,
        "no temporary folder can be made in it (\(String(cString: strerror(code))))",
        cure: "set TMPDIR to a folder that you can write to")
    }
    self.path = path
  }

  /// The system's temporary folder.
  package static var parent: String { FileManager.default.temporaryDirectory.path }

  deinit {
    // The system empties its temporary folder in the end; no caller is left to report to.
    Result { try FileManager.default.removeItem(atPath: path) }.discardFailure()
  }
}

extension Result {
  /// Says that a failure is of no consequence here; the caller's comment says why.
  package func discardFailure() {}
}
