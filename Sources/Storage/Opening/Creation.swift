// SPDX-License-Identifier: Apache-2.0
//
// A new file is made complete as a draft, then linked to its name. So a file of ours either is not
// there or is whole: no crash and no race between two processes can leave one that is half made, or
// give it two identities.

import CKeepsake
import Foundation
import KeepsakeMigrations
import KeepsakeValues

package enum Creation {
  /// Throws when a file that is gone has left its log: SQLite would take it for the new file's, and
  /// write the old pages into it (https://www.sqlite.org/howtocorrupt.html, section 1.4).
  package static func refuseOrphanedLog(of path: String) throws(KeepsakeError) {
    // In this order: a process that makes the file meanwhile makes it before its log.
    guard let log = try FileStatus(of: path + "-wal"), log.size > 0,
      try FileStatus(of: path) == nil
    else { return }
    throw KeepsakeError(
      .cannotCreate, path: path, "the log of a file that is gone is still there",
      cure: "remove \(path)-wal, or put the file back")
  }

  /// The schema and one identity, in an empty database.
  static func populate(_ database: Database, identity: ReplicaID, path: String) throws {
    let connection = database.connection(path)
    try connection.explaining {
      try connection.transaction(.immediate) { connection in
        try Schema.create(connection)
        try ReplicaState.create(connection, identity, oldestWriter: Migrations.oldestWriter)
      }
    }
  }

  /// Gives a file a name, unless that is taken.
  ///
  /// - Parameter link: link(2), after which the file has both names.
  /// - Returns: 0, or why it was not done, as of errno; `EEXIST` if the name is taken.
  package static func name(
    _ path: String, _ target: String, by link: (String, String) -> Int32 = { link($0, $1) }
  ) -> Int32 {
    guard link(path, target) != 0 else { return 0 }
    // FAT, exFAT and some file systems of networks have no links.
    guard [EPERM, ENOTSUP, ENOSYS].contains(errno) else { return errno }
    return keepsake_rename_exclusively(path, target) == 0 ? 0 : errno
  }

  /// Makes a new name in a folder outlive a power failure. https://lwn.net/Articles/457667/
  ///
  /// - Parameter name: gives the file its name, unless that is taken. All but the disk itself can
  ///   fail before it only.
  /// - Returns: what `name` does.
  package static func syncing(
    _ folder: String, _ name: () throws(KeepsakeError) -> Bool
  ) throws(KeepsakeError) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // A folder that one may write to and not read cannot be synced.
      if errno == EACCES { return try name() }
      throw KeepsakeError(system: errno, path: folder)
    }
    defer { close(descriptor) }
    guard try name() else { return false }
    // Not every file system can.
    guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP else { return true }
    let text = String(cString: strerror(errno))
    throw KeepsakeError(
      .inputOutput, path: folder,
      "what was made is there, but its folder cannot be synced (\(text))",
      cure: "check the disk: a power failure may take it away")
  }

  package static func cannotCreate(_ path: String, _ code: Int32) -> KeepsakeError {
    if code == ENOSPC || code == EDQUOT { return KeepsakeError(system: code, path: path) }
    let why =
      code == ENOENT
      ? "its folder does not exist" : "it cannot be made (\(String(cString: strerror(code))))"
    return KeepsakeError(
      .cannotCreate, path: path, why, cure: "make the folder, or name one that you can write to")
  }
}
