// SPDX-License-Identifier: Apache-2.0
//
// A file in the making: in a folder of its own beside the file to be, `<file>.new-<random>/`, with
// its log and whatever else SQLite keeps. It gets its name when it is whole, unless the name is
// taken. The process that makes it holds a lock on the folder, which the system releases when that
// process dies. The next process that opens the file for writing removes folders that are not
// locked. A lock on the file itself would not do: closing its descriptor would release SQLite's
// (https://www.sqlite.org/howtocorrupt.html, section 2.2).

import Foundation
package import KeepsakeValues

package final class Draft {
  /// Of the file while it is made.
  package let path: String
  /// Of the file to be.
  package let target: String
  private let folder: String
  private let lock: Int32

  /// Makes an empty folder for it.
  package init(of target: String) throws(KeepsakeError) {
    self.target = target
    Self.removeAbandoned(of: target)
    for _ in 0..<10 {
      let folder = target + Self.infix + ReplicaID.random().description
      // Settings may be secrets, so it is its owner's alone.
      guard mkdir(folder, 0o700) == 0 else { throw Creation.cannotCreate(target, errno) }
      // Another process took it for abandoned, in the moment before it was locked.
      guard let lock = try Self.lock(folder) else {
        rmdir(folder)
        continue
      }
      self.folder = folder
      self.lock = lock
      path = folder + "/device"
      return
    }
    // A file system whose inode numbers change makes each folder look like another one.
    throw Creation.cannotCreate(target, ESTALE)
  }

  deinit {
    Self.remove(folder)
    close(lock)
  }

  /// Makes the file a device that holds nothing yet.
  package func populate(_ identity: ReplicaID) throws(KeepsakeError) {
    do {
      try makeEmpty()
      let database = try Connector.connect(
        .file(path), .readWrite, BusyHandler(BusyHandler.usualLimit))
      let connection = database.connection(.file(path))
      // 1024: a set rewrites a few pages whole, and small ones are cheaper to log.
      try connection.explaining {
        try connection.execute("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;")
      }
      try Creation.populate(database, identity: identity, path: target)
      try Checkpoint.emptyLog(.file(path), waiting: BusyHandler.usualLimit)
      database.close()
    } catch {
      throw KeepsakeError(error, path: target).at(target)
    }
  }

  /// Settings may be secrets; SQLite gives a log the mode of its file.
  package func makeEmpty() throws(KeepsakeError) {
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Creation.cannotCreate(target, errno) }
    close(descriptor)
  }

  /// Gives the file its name, for good: also after a power failure. No connection may have it
  /// open.
  ///
  /// - Returns: false when the name was taken; then whatever has it is as it was.
  package func publish() throws(KeepsakeError) -> Bool {
    try Creation.refuseOrphanedLog(of: target)
    return try Creation.syncing(FileStatus.folder(of: target)) { () throws(KeepsakeError) in
      switch Creation.name(path, target) {
      case 0: true
      case EEXIST: false
      case let code: throw Creation.cannotCreate(target, code)
      }
    }
  }
}

extension Draft {
  /// Makes a device's file that holds nothing yet, unless the file has been made meanwhile.
  package static func create(path: String, identity: ReplicaID) throws(KeepsakeError) {
    guard !FileStatus.isSymbolicLink(path) else { throw KeepsakeError.missing(path) }
    let draft = try Draft(of: path)
    try draft.populate(identity)
    _ = try draft.publish()
  }

  /// Takes the place of the file that has the name, with its owner and permissions. No connection
  /// may have either open.
  package func replaceTarget(_ status: FileStatus) throws(KeepsakeError) {
    // Only root can give a file to another user.
    _ = chown(path, status.owner, status.group)
    _ = try Creation.syncing(FileStatus.folder(of: target)) { () throws(KeepsakeError) in
      guard chmod(path, status.permissions) == 0, rename(path, target) == 0 else {
        throw KeepsakeError(system: errno, path: target)
      }
      return true
    }
  }
}

// MARK: - What was left behind

extension Draft {
  /// Between a file's name and what is random in a draft's.
  private static let infix = ".new-"

  /// Removes what processes that died were making of a file, or of a backup of it.
  package static func removeAbandoned(of file: String) {
    let folder = FileStatus.folder(of: file)
    for name in names(in: folder) where isDraft(name, of: file) {
      let path = folder + "/" + name
      // Where a lock cannot be had nothing is taken for abandoned: opening a file must not fail
      // because of another file in its folder.
      guard case .success(let lock?) = Result(catching: { try Self.lock(path) }) else { continue }
      remove(path)
      close(lock)
    }
  }

  /// Whether this is a name that only a draft of the file, or of a backup of it, has.
  package static func isDraft(_ name: String, of file: String) -> Bool {
    // Not for other names: each use compiles the pattern.
    guard name.utf8.dropLast(16).suffix(infix.utf8.count).elementsEqual(infix.utf8) else {
      return false
    }
    let own = file.split(separator: "/").last ?? ""
    guard name.utf8.starts(with: own.utf8) else { return false }
    let rest = name.dropFirst(own.count)
    let draft = /(\.backup-\d{4}-\d\d-\d\d|\.lost-log-[0-9a-f]{16})?\.new-[0-9a-f]{16}/
    return rest.wholeMatch(of: draft) != nil
  }

  /// Whether a draft in this folder has got its name, but not lost the other: then the folder still
  /// holds a link to the file.
  package static func hasLink(
    to file: FileID?, in folder: String
  ) throws(KeepsakeError) -> Bool {
    try FileID(of: folder + "/device") == file
  }

  /// - Returns: nil when another process, or another thread, has it, or has just removed it.
  private static func lock(_ folder: String) throws(KeepsakeError) -> Int32? {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw KeepsakeError(system: errno, path: folder)
    }
    return try FileLock(descriptor, folder) == .taken ? descriptor : nil
  }

  private static func remove(_ folder: String) {
    for name in names(in: folder) { unlink(folder + "/" + name) }
    rmdir(folder)
  }

  static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
