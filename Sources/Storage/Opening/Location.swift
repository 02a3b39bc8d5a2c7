// SPDX-License-Identifier: Apache-2.0

import CKeepsake
import Foundation
import KeepsakeValues

/// Where a device keeps its data.
package enum Location: Sendable, Hashable {
  /// The path as it was given, for messages; and the real one, from the root and without links,
  /// whatever becomes of the current folder.
  case file(path: String, real: String)
  /// A database in memory that every connection of this process can reach by its name.
  case memory(name: String)

  /// A file by its path, absolute or relative to the current folder.
  package static func file(_ path: String) -> Location {
    .file(path: path, real: real(path))
  }

  /// The path from the root and without links, also of a file that is not there.
  package static func real(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return absolute(path) }
    defer { free(real) }
    return String(cString: real)
  }

  /// What messages call it.
  package var path: String {
    switch self {
    case .file(let path, _): path
    case .memory: "(memory)"
    }
  }

  /// The path from the root, without links; as `path` in memory.
  package var realPath: String {
    if case .file(_, let real) = self { real } else { path }
  }

  /// How a connection is to treat the file.
  package enum Mode: Sendable {
    case readWrite
    /// A connection that may write and does not (`PRAGMA query_only`): unlike a read-only one it
    /// takes the log and the shared-memory file away again when it is the last to close.
    case queryOnly
    /// For a file or a folder that we may not write.
    case readOnly
    /// As `readWrite`, and the file is made when it is missing.
    case create
    /// Not written while it is open (`immutable=1`): needs no `-shm`, so it works in a read-only
    /// folder.
    case immutable
  }

  /// The address that SQLite opens or attaches. https://www.sqlite.org/uri.html
  package func uri(_ mode: Mode) -> String {
    switch self {
    case .memory(let name): "file:/\(name)?vfs=memdb"
    case .file(_, let real):
      // With an empty authority, or SQLite would take the `tmp` of `//tmp/x` for one.
      "file://" + Self.percentEncoded(real) + "?" + Self.parameters(mode) + "&vfs="
        + Self.fileSystem
    }
  }

  /// What SQLite calls the file system that our files are read by; registered once in a process.
  private static let fileSystem = String(cString: keepsake_register_file_system())

  private static func parameters(_ mode: Mode) -> String {
    switch mode {
    case .readWrite, .queryOnly: "mode=rw"
    case .readOnly: "mode=ro"
    case .create: "mode=rwc"
    case .immutable: "mode=ro&immutable=1"
    }
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }

  private static func percentEncoded(_ path: String) -> String {
    path.addingPercentEncoding(withAllowedCharacters: plain) ?? path
  }

  private static let plain = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-./_")
}
