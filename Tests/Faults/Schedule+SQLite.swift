// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDBSQLite
import KeepsakeDevice
import KeepsakeValues

extension ScheduledScenario {
  private static let (writers, writes) = (3, 6)

  /// Connections that leave checkpoints to SQLite. Where it has the WAL-reset bug
  /// (https://www.sqlite.org/wal.html#walresetbug), some schedules lose commits.
  package static let sqlite = ScheduledScenario(
    name: "sqlite", summary: "three connections write, and SQLite checkpoints by itself",
    steps: 500,
    prepare: { folder in
      let database = try Bare(folder + "/file", checkpointsAt: 0)
      try database.run("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY)")
    },
    actors: (0..<writers).map { writer in
      { acknowledge, folder in
        let database = try Bare(folder + "/file", checkpointsAt: 2)
        for number in 0..<writes {
          try database.run("INSERT INTO t VALUES (\(writer * 100 + number))")
          acknowledge(number + 1)
        }
      }
    },
    check: { folder, acknowledged in
      let database = try Bare(folder + "/file", checkpointsAt: 0)
      let count = try database.integer("SELECT count(*) FROM t")
      let wanted = acknowledged.reduce(0, +)
      guard count == wanted else {
        throw ScheduleFailure("of \(wanted) acknowledged commits \(count) are there")
      }
      try database.run("PRAGMA integrity_check")
    })

  /// The same through devices, whose checkpoints run under the write lock.
  package static let checkpoint = ScheduledScenario(
    name: "checkpoint", summary: "three processes write and checkpoint", steps: 1000,
    prepare: { folder in _ = try Device(scheduled: folder + "/file", 1) },
    actors: (0..<writers).map { writer in
      { acknowledge, folder in
        let device = try Device(scheduled: folder + "/file", 1)
        for number in 0..<writes {
          try device.write([
            LocalWrite(store: "cloud", key: "\(writer)/\(number)", value: .integer(1))
          ])
          acknowledge(number + 1)
          if number % 2 == writer % 2 {
            try Checkpoint.run(device.core.location, waiting: .seconds(5))
          }
        }
      }
    },
    check: { folder, acknowledged in
      let device = try Device(scheduled: folder + "/file", 1)
      try device.checkIntegrity()
      for (writer, count) in acknowledged.enumerated() {
        for number in 0..<count {
          guard try device.entry(store: "cloud", key: "\(writer)/\(number)") != nil else {
            throw ScheduleFailure("the acknowledged write \(number) of process \(writer) is lost")
          }
        }
      }
    })
}

/// A connection without anything of ours.
private final class Bare {
  private var connection: OpaquePointer?

  init(_ path: String, checkpointsAt pages: Int32) throws {
    guard sqlite3_open(path, &connection) == SQLITE_OK else { throw failure }
    sqlite3_busy_timeout(connection, 60_000)
    sqlite3_wal_autocheckpoint(connection, pages)
  }

  deinit { sqlite3_close(connection) }

  func run(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  func integer(_ sql: String) throws -> Int {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { throw failure }
    return Int(sqlite3_column_int64(statement, 0))
  }

  private var failure: ScheduleFailure {
    ScheduleFailure("SQLite: " + String(cString: sqlite3_errmsg(connection)))
  }
}
