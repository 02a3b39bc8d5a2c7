// SPDX-License-Identifier: Apache-2.0
//
// What can be learned about a file without opening it. Opening (and then closing) a database in a
// process that has a connection to it would drop SQLite's locks on it
// (https://www.sqlite.org/howtocorrupt.html, section 2.2), so nothing here does.

import Foundation

/// A file's identity on this machine: two paths name one file iff these are equal.
package struct FileID: Hashable, Comparable, Sendable {
  let device: UInt64
  let inode: UInt64

  /// The identity of what is at a path, symbolic links followed; nil when nothing is.
  package init?(of path: String) throws(KeepsakeError) {
    guard let id = try FileStatus(of: path)?.id else { return nil }
    self = id
  }

  package static func < (a: FileID, b: FileID) -> Bool {
    (a.device, a.inode) < (b.device, b.inode)
  }

  /// As `/proc/locks` names it: the device's major and minor number in hexadecimal (glibc's
  /// `gnu_dev_major` and `gnu_dev_minor`), and the inode's.
  var inLocks: String {
    func digits(_ number: UInt64) -> String {
      (number < 16 ? "0" : "") + String(number, radix: 16)
    }
    let major = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
    let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
    return "\(digits(major)):\(digits(minor)):\(inode)"
  }

  fileprivate init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// What stat(2) says of a file.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable { case regular, folder, other }

  package let id: FileID
  package let kind: Kind
  package let size: Int64
  let owner: uid_t
  let group: gid_t
  let permissions: mode_t
  /// When its content was last changed, and when anything about it was, in nanoseconds since 1970.
  package let modification: Int64
  let change: Int64

  /// Follows symbolic links; nil when nothing is there.
  ///
  /// - Throws: `KeepsakeError` when the system refuses.
  package init?(of path: String) throws(KeepsakeError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let code = errno
      if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) { return nil }
      throw KeepsakeError(system: code, path: path)
    }
    id = FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    size = Int64(status.st_size)
    (owner, group, permissions) = (status.st_uid, status.st_gid, status.st_mode & 0o7777)
    #if canImport(Darwin)
      let (content, any) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (content, any) = (status.st_mtim, status.st_ctim)
    #endif
    modification = Int64(content.tv_sec) * 1_000_000_000 + Int64(content.tv_nsec)
    change = Int64(any.tv_sec) * 1_000_000_000 + Int64(any.tv_nsec)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .folder
      default: .other
      }
  }

  package static func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Whether the path leads to a visible file or folder.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func isWritable(_ path: String) -> Bool { isPermitted(path, W_OK) }
  static func isReadable(_ path: String) -> Bool { isPermitted(path, R_OK) }

  /// Whether open(2) would permit it: access(2) asks for the user who started the program instead.
  private static func isPermitted(_ path: String, _ mode: Int32) -> Bool {
    faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
  }
}

extension KeepsakeError {
  /// A failure of the operating system, by its `errno`.
  package init(system code: Int32, path: String, cause: (any Error)? = nil) {
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
        .inputOutput, path: path, "the system reports: \(text)\(Self.code(of: cause))",
        cure: "check the path, the disk, and the limits of this process (ulimit -a)", cause: cause)
    }
  }

  private static func code(of cause: (any Error)?) -> String {
    (cause as? SQLiteError).map { " (SQLite's code \($0.code))" } ?? ""
  }

  /// The error if the path of an open file leads to another file, or to none.
  static func movedAway(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .inputOutput, path: path, "the file was deleted or replaced while it was open",
      cure: "put it back, or open the device anew")
  }

  /// The error if a path leads to no file.
  package static func missing(_ path: String) -> KeepsakeError {
    FileStatus.isSymbolicLink(path)
      ? KeepsakeError(
        .missing, path: path, "the symbolic link leads nowhere", cure: "fix or remove the link")
      : KeepsakeError(.missing, path: path, "there is no such file", cure: "check the path")
  }
}
