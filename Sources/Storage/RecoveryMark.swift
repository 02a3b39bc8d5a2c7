// SPDX-License-Identifier: Apache-2.0

/// The locked file that says that a recovery is under way.
package final class RecoveryMark {
  package static let suffix = ".recovery"

  private let file: String
  private let lock: LockedFile
  /// Another recovery is under way, or was interrupted.
  package let wasThere: Bool
  /// Once the file has been moved: without a successor it must not be made anew in silence.
  package var staysWithoutFile: Bool

  /// Waits for another recovery of the same file.
  package init(of file: String) throws(KeepsakeError) {
    self.file = file
    let path = file + Self.suffix
    wasThere = try FileStatus(of: path) != nil
    staysWithoutFile = wasThere
    lock = try LockedFile(path)
  }

  package func release() {
    lock.remove(keepsFile: staysWithoutFile && !FileStatus.exists(file))
  }

  /// Throws when a recovery of the file is under way, or was interrupted.
  package static func refuse(_ file: String) throws(KeepsakeError) {
    // Where the mark cannot be seen the file cannot either, and opening it says why.
    guard FileStatus.exists(Location.real(file) + suffix) else { return }
    throw KeepsakeError(
      .corrupt, path: file, "it is being recovered, or a recovery was interrupted",
      cure: "wait for it, or let its application recover it again (Device.recover)")
  }
}
