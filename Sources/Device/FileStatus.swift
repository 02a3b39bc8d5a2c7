// SPDX-License-Identifier: Apache-2.0
//
// What can be learned about a file without opening it. Opening (and then closing) a database in a
// process that has a connection to it would drop SQLite's locks on it
// (https://www.sqlite.org/howtocorrupt.html, section 2.2), so nothing here does.

import Foundation

/// A file's identity on this machine: two paths name one file iff these are equal.
package struct FileID: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  /// The identity of what is at a path, symbolic links followed; nil when nothing is.
  package init?(of path: String) throws(KeepsakeError) {
    guard let id = try FileStatus(of: path)?.id else { return nil }
    self = id
  }

  fileprivate init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

struct FileStatus {
  enum Kind { case regular, folder, other }

  let id: FileID
  let kind: Kind
  let size: Int64

  /// Follows symbolic links; nil when nothing is there.
  ///
  /// - Throws: `KeepsakeError` when the system will not tell.
  init?(of path: String) throws(KeepsakeError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let code = errno
      if code == ENOENT || code == ENOTDIR { return nil }
      throw KeepsakeError(system: code, path: path)
    }
    id = FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    size = Int64(status.st_size)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .folder
      default: .other
      }
  }

  static func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Whether something is there that we can see.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }
  static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }
}

extension KeepsakeError {
  /// A failure of the operating system, by its `errno`.
  init(system code: Int32, path: String) {
    let text = String(cString: strerror(code))
    switch code {
    case EACCES, EPERM, EROFS:
      self.init(
        .permissionDenied, path: path, "the system refuses access (\(text))",
        cure: "change the permissions of the file and of its folder")
    case ENOSPC, EDQUOT:
      self.init(.diskFull, path: path, "the disk is full", cure: "free some space and try again")
    default:
      self.init(
        .inputOutput, path: path, "the system reports: \(text)", cure: "check the path and the disk"
      )
    }
  }
}
