// SPDX-License-Identifier: Apache-2.0
//
// Checks that the log of a hub's file is its own, as `LogCheck.swift` does for a device's. SQLite
// reads any log of the right name: if a backup replaces a file that has crashed, but not its log,
// that log would destroy the backup.
//
// A log is the file's own if both together are an undamaged hub that the file alone can have
// become: an account's sequence numbers never decrease, and a number has only one mark. The check
// reads every page, so it runs only for a log that a crash has left.

import KeepsakeHubServer
import KeepsakeStorage

enum HubLog {
  /// The size of a log's header. A log without frames changes nothing.
  private static let headerSize = 32

  /// Opens a file by `connect`, if its log is its own.
  ///
  /// - Throws: `KeepsakeError` with code `foreignLog`; then nothing was written.
  static func open(
    _ path: String, _ connect: () throws -> SoleConnection
  ) throws -> SoleConnection {
    let real = Location.real(path)
    guard try FileStatus(of: real + "-wal")?.size ?? 0 > headerSize else { return try connect() }
    // Closing a file releases all locks of this process on it, so it must not be open here.
    try SoleConnection.refuseOpen(path)
    try ExclusiveLock(path: path, real: real).release()
    let alone = try state { try SoleConnection.read(withoutLog: path) { try NewestMarks($0) } }
    var problem = Schema.damaged(path, "the file is damaged")
    do {
      let sole = try connect()
      if let both = try state({ try sole.access(NewestMarks.init(checking:)) }),
        alone.map(both.follows) ?? true
      {
        return sole
      }
      try sole.access { $0.keepLog(true) }
      sole.close()
    } catch let error as KeepsakeError where error.isRefusal {
      problem = error
    }
    let isWhole = try state {
      try SoleConnection.read(withoutLog: path, NewestMarks.init(checking:))
    }
    guard isWhole != nil else { throw problem }
    throw KeepsakeError(
      .foreignLog, path: path, "\(real)-wal is not this file's log, so nothing was written",
      cure: "move \(real)-wal away; the file alone is whole")
  }

  /// - Returns: nil if the file is damaged, or no hub's.
  private static func state(_ read: () throws -> NewestMarks) throws -> NewestMarks? {
    do {
      return try read()
    } catch let error as KeepsakeError where error.isRefusal || error.isOfSchema {
      return nil
    }
  }
}

/// The newest marks of a hub's file, which tell two states of it apart.
private struct NewestMarks {
  /// By account.
  private let newest: [Int64: HubMark]

  init(_ connection: Connection) throws {
    let all = try connection.all("SELECT id, mark_number, mark_bits FROM keepsake_account") {
      ($0.integer(0), HubMark(number: $0.integer(1), bits: $0.integer(2)))
    }
    newest = Dictionary(all, uniquingKeysWith: { $1 })
  }

  /// Checks every page first.
  init(checking connection: Connection) throws {
    try HubSchema.check(connection)
    let found = try connection.first("PRAGMA integrity_check(1)") { $0.text(0) }
    guard found == "ok" else { throw Schema.damaged(connection.path, "the file is damaged") }
    try self.init(connection)
  }

  func follows(_ earlier: NewestMarks) -> Bool {
    earlier.newest.allSatisfy { id, before in
      guard let now = newest[id] else { return true }
      return now.number > before.number || now.isSame(before)
    }
  }
}
