// SPDX-License-Identifier: Apache-2.0

/// The locked file that says that a recovery is under way, and where it puts the damaged file: one
/// that was interrupted can be undone.
package final class RecoveryMark {
  package static let suffix = ".recovery"
  /// Between a file's name and the time in the name of what was put aside.
  package static let asideInfix = ".corrupt-"

  private let file: String
  private let lock: LockedFile
  /// Another recovery is under way, or was interrupted.
  package let wasThere: Bool
  /// Where a recovery that was interrupted put the damaged file, or was about to.
  package let interrupted: String?
  /// Once the file has been moved: without a successor it must not be made anew in silence.
  private var staysWithoutFile: Bool

  /// Waits for another recovery of the same file.
  package init(of file: String) throws(KeepsakeError) {
    self.file = file
    let path = file + Self.suffix
    wasThere = try FileStatus(of: path) != nil
    staysWithoutFile = wasThere
    lock = try LockedFile(path, mayHoldText: true)
    do throws(KeepsakeError) {
      interrupted = try Self.suffix(lock, path).map { file + $0 }
    } catch {
      lock.remove(keepsFile: true)
      throw error
    }
  }

  private static func suffix(
    _ lock: LockedFile, _ path: String
  ) throws(KeepsakeError) -> String? {
    guard let suffix = try lock.text() else { return nil }
    guard suffix.hasPrefix(asideInfix), !suffix.contains("/"), !suffix.contains("\0") else {
      throw LockedFile.isInTheWay(path)
    }
    return suffix
  }

  /// Notes where the damaged file goes, before it does.
  ///
  /// - Parameter aside: a path that begins with the file's.
  package func note(_ aside: String) throws(KeepsakeError) {
    staysWithoutFile = true
    // Of bytes: the name's last scalar and the point behind it may be one character.
    try lock.write(String(decoding: aside.utf8.dropFirst(file.utf8.count), as: UTF8.self))
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
