// SPDX-License-Identifier: Apache-2.0
//
// A new file is made complete under another name in the same folder, then linked to its own. So a
// file of ours either is not there or is whole: no crash and no race between two processes can
// leave one that is half made, or give it two identities. link(2) fails when the name is taken.

import Foundation
import GRDB
import KeepsakeMigrations
import KeepsakeValues

package enum Creation {
  /// Makes the file unless somebody else has made it meanwhile.
  static func create(path: String, identity: ReplicaID) throws(KeepsakeError) {
    guard !FileStatus.isSymbolicLink(path) else { throw Opening.missing(path) }
    _ = try make(path: path, mark: identity) { draft in
      let queue = try Opening.connect(.file(draft), .readWrite, Patience(Device.defaultBusyTimeout))
      try queue.writeWithoutTransaction { database in
        // 1024: a set rewrites a few pages whole, and small ones are cheaper to log.
        try database.execute(sql: "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;")
      }
      try populate(queue, identity: identity, path: path)
      try queue.writeWithoutTransaction { try Connection(database: $0, path: path).emptyLog() }
      try queue.close()
    }
  }

  /// Makes a draft beside the file to be, and gives it its name when `fill` has returned.
  ///
  /// - Parameters:
  ///   - mark: makes the draft's name unique.
  ///   - fill: gets the path of an empty file; empties its log and closes it when it is done.
  /// - Returns: false when the name was taken; then whatever has it is as it was.
  static func make(
    path: String, mark: ReplicaID, _ fill: (String) throws -> Void
  ) throws(KeepsakeError) -> Bool {
    let draft = path + draftInfix + mark.description
    try makeEmpty(draft, for: path)
    defer { remove(draft) }
    do {
      try fill(draft)
    } catch {
      throw KeepsakeError(error, path: path)
    }
    return try publish(draft, as: path)
  }

  /// Gives a draft that nobody has open its name.
  ///
  /// - Returns: false when the name was taken; then whatever has it is as it was.
  package static func publish(_ draft: String, as path: String) throws(KeepsakeError) -> Bool {
    try refuseOrphanedLog(of: path)
    guard link(draft, path) != 0 else { return true }
    guard errno == EEXIST else { throw cannotCreate(path, errno) }
    return false
  }

  /// Throws when a file that is gone has left its log: SQLite would take it for the new file's, and
  /// write the old pages into it (https://www.sqlite.org/howtocorrupt.html, section 1.4).
  package static func refuseOrphanedLog(of path: String) throws(KeepsakeError) {
    // In this order: whoever makes the file meanwhile makes it before its log.
    guard let log = try FileStatus(of: path + "-wal"), log.size > 0,
      try FileStatus(of: path) == nil
    else { return }
    throw KeepsakeError(
      .cannotCreate, path: path, "the log of a file that is gone is still there",
      cure: "remove \(path)-wal, or put the file back")
  }

  /// Removes a draft, and the log that closing leaves where the disk was too full to empty it.
  package static func remove(_ draft: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(draft + suffix) }
  }

  /// Between a file's name and the mark in a draft's.
  package static let draftInfix = ".new-"

  /// The schema and one identity, in an empty database.
  static func populate(_ queue: DatabaseQueue, identity: ReplicaID, path: String) throws {
    try Schema.migrate(queue)
    try queue.writeWithoutTransaction { database in
      try Connection(database: database, path: path).run(
        """
        INSERT INTO replica (only, id, epoch, hlc, lseq, min_writer) VALUES (1, ?1, 0, 0, 0, ?2)
        """,
        [.integer(identity.rawValue), .integer(1)])
    }
  }

  /// Settings may be secrets, so a file is its owner's alone; SQLite gives its log the same mode.
  private static func makeEmpty(_ draft: String, for path: String) throws(KeepsakeError) {
    let descriptor = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw cannotCreate(path, errno) }
    close(descriptor)
  }

  static func cannotCreate(_ path: String, _ code: Int32) -> KeepsakeError {
    if code == ENOSPC || code == EDQUOT { return KeepsakeError(system: code, path: path) }
    let why =
      code == ENOENT
      ? "its folder does not exist" : "it cannot be made (\(String(cString: strerror(code))))"
    return KeepsakeError(
      .cannotCreate, path: path, why, cure: "make the folder, or name one that you can write to")
  }
}
