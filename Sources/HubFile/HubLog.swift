// SPDX-License-Identifier: Apache-2.0
//
// Whether the log beside a hub's file is its own, as `LogCheck.swift` asks it of a device's: SQLite
// believes any log of the right name, and a backup that is put in the place of a file that crashed,
// without that one's log, would be destroyed by it.
//
// A log is the file's own if both together are a whole hub that the file alone can have become: an
// account's sequence numbers never fall, and a number has one mark. This reads every page, so it
// is done only for a log that a crash has left.

import KeepsakeHubServer
import KeepsakeStorage

enum HubLog {
  /// A log's header; one without frames changes nothing.
  private static let headerSize = 32

  /// Opens a file by `connect` where its log may be read.
  ///
  /// - Throws: `KeepsakeError` with code `foreignLog`; then nothing was written.
  static func passing(
    _ path: String, _ connect: () throws -> SoleConnection
  ) throws -> SoleConnection {
    let real = Location.real(path)
    guard try FileStatus(of: real + "-wal")?.size ?? 0 > headerSize else { return try connect() }
    // To close a file releases every lock of this process on it: none has it open.
    try SoleConnection.refuseOpen(path)
    try ExclusiveLock(path: path, real: real).release()
    let alone = try state { try SoleConnection.read(withoutLog: path) { try HubState($0) } }
    var problem = Schema.damaged(path, "the file is damaged")
    do {
      let sole = try connect()
      if let both = try state({ try sole.access(HubState.init(checking:)) }),
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
      try SoleConnection.read(withoutLog: path, HubState.init(checking:))
    }
    guard isWhole != nil else { throw problem }
    throw KeepsakeError(
      .foreignLog, path: path, "\(real)-wal is not this file's log, so nothing was written",
      cure: "move \(real)-wal away; the file alone is whole")
  }

  /// - Returns: nil of what is damaged, or no hub.
  private static func state(_ read: () throws -> HubState) throws -> HubState? {
    do {
      return try read()
    } catch let error as KeepsakeError where error.isRefusal || error.isOfSchema {
      return nil
    }
  }
}

/// What a hub's file says of itself that tells two states of it apart.
private struct HubState {
  /// The newest mark of each account.
  private let newest: [Int64: HubMark]

  init(_ connection: Connection) throws {
    let all = try connection.all("SELECT id, mark_number, mark_bits FROM keepsake_account") {
      ($0.integer(0), HubMark(number: $0.integer(1), bits: $0.integer(2)))
    }
    newest = Dictionary(all, uniquingKeysWith: { $1 })
  }

  /// After a look at every page.
  init(checking connection: Connection) throws {
    try HubSchema.check(connection)
    let found = try connection.first("PRAGMA integrity_check(1)") { $0.text(0) }
    guard found == "ok" else { throw Schema.damaged(connection.path, "the file is damaged") }
    try self.init(connection)
  }

  func follows(_ earlier: HubState) -> Bool {
    earlier.newest.allSatisfy { id, before in
      guard let now = newest[id] else { return true }
      return now.number > before.number || now.isSame(before)
    }
  }
}
