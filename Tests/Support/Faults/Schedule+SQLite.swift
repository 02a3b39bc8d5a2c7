// SPDX-License-Identifier: Apache-2.0

import Foundation
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
      let database = try PlainDatabase(folder + "/file", checkpointsAt: 0)
      try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY)")
    },
    actors: (0..<writers).map { writer in
      { acknowledge, folder in
        let database = try PlainDatabase(folder + "/file", checkpointsAt: 2)
        for number in 0..<writes {
          try database.execute("INSERT INTO t VALUES (\(writer * 100 + number))")
          acknowledge(number + 1)
        }
      }
    },
    check: { folder, acknowledged in
      let database = try PlainDatabase(folder + "/file", checkpointsAt: 0)
      let count = try database.texts("SELECT count(*) FROM t")[0]
      let wanted = acknowledged.reduce(0, +)
      guard count == "\(wanted)" else {
        throw ScheduleFailure("of \(wanted) acknowledged commits \(count) are there")
      }
      try database.execute("PRAGMA integrity_check")
    })

  /// The same file, moved as Keepsake does: under the write lock.
  package static let checkpoint = moving("checkpoint", "as Keepsake does") { file in
    try Checkpoint.run(.file(file), waiting: .seconds(60))
  }

  /// Shows that `checkpoint` would see what the write lock prevents.
  package static let unguarded = moving("unguarded", "without the write lock") { file in
    try PlainDatabase(file, checkpointsAt: 0).execute("PRAGMA wal_checkpoint(PASSIVE)")
  }

  private enum Part: Int {
    case writes, movesAll, moves, writesLast
  }

  /// A log is moved whole, by one process; then another one's checkpoint, which may have begun
  /// before, meets the write that begins the log anew. What is written after both is lost, if that
  /// checkpoint has noted the former log's length.
  private static func moving(
    _ name: String, _ how: String, by checkpoint: @escaping @Sendable (String) throws -> Void
  ) -> ScheduledScenario {
    let writes = 3
    return ScheduledScenario(
      name: name, summary: "two connections write, and two others checkpoint \(how)", steps: 150,
      prepare: { folder in
        _ = try Device(scheduled: folder + "/file", 1)
        let database = try PlainDatabase(folder + "/file", checkpointsAt: 0)
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
      },
      actors: (0..<4).map { part in
        { acknowledge, folder in
          let file = folder + "/file"
          switch Part(rawValue: part) {
          case .writes:
            let database = try PlainDatabase(file, checkpointsAt: 0)
            for number in 1...writes {
              try database.execute("INSERT INTO t VALUES (\(number))")
              acknowledge(number)
            }
          case .movesAll:
            waitForActor(Part.writes.rawValue, toAcknowledge: writes)
            try checkpoint(file)
            acknowledge(1)
          case .moves:
            try checkpoint(file)
            acknowledge(1)
          case .writesLast, nil:
            let database = try PlainDatabase(file, checkpointsAt: 0)
            for (number, part) in [Part.movesAll, .moves].enumerated() {
              waitForActor(part.rawValue, toAcknowledge: 1)
              try database.execute("INSERT INTO t VALUES (\(writes + 1 + number))")
            }
          }
        }
      },
      check: { folder, _ in
        let database = try PlainDatabase(folder + "/file", checkpointsAt: 0)
        let count = try database.texts("SELECT count(*) FROM t")[0]
        guard count == "\(writes + 2)" else {
          throw ScheduleFailure("of \(writes + 2) acknowledged commits \(count) are there")
        }
        try database.execute("PRAGMA integrity_check")
      })
  }
}
