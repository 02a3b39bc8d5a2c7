// SPDX-License-Identifier: Apache-2.0
//
// A hub's file without a network, by a process of its own.

import Foundation

private let ours = "a hub's file"
private let disk = "32 KiB written, fsync"
private let table = "one table, C API"
private let handOver = "a call that another thread ends"

func hubs(_ report: Report) {
  let many = Scale.isQuick ? 100 : 3_000
  report.run(
    race("push 10 rows, 1,000 accounts at random, 64 pushes under way", "pushes", many) {
      $0.enter(disk) { try figure("fsyncs", many / 10) }
      return [disk]
    })
  report.run(
    race("push a setting, alone", "push", many / 10) {
      $0.enter(disk) { try figure("fsyncs", many / 10) }
      return [disk]
    })
  let rows = Scale.isQuick ? 1_000 : 100_000
  let words = Scale.name(rows)
  report.run(
    race("take \(words) rows, in pages of 1,000", "up", rows) {
      $0.enter(table) { try fill(rows).nanoseconds }
      return [table]
    })
  report.run(
    race("give \(words) rows, in pages of 1,000", "down", rows) {
      $0.enter(table, { try fill(rows).database }, readAll)
      return [table]
    })
  report.run(
    race("a request without news, \(words) rows", "nothing", rows) {
      $0.enter(handOver) { nanoseconds(1_000) { _ in HandOver.shared.call() } }
      return [handOver]
    })
  hubsOverHTTP(report)
}

/// - Parameter enter: lets others take part, and names them.
private func race(
  _ work: String, _ kind: String, _ count: Int, _ enter: (Race) -> [String]
) -> Race {
  let race = Race(rounds: 5...21, seconds: 4, warmsUp: false)
  race.enter(ours) { try figure(kind, count) }
  race.row(work, ours, beside: enter(race))
  return race
}

private func figure(_ kind: String, _ count: Int) throws -> Double {
  try hubFigures(["file", kind, "\(count)"])[0]
}

/// The figures that `keepsake-hub-probe` prints, at least one.
func hubFigures(_ words: [String]) throws -> [Double] {
  let output = try Command.run([Command.beside("keepsake-hub-probe")] + words)
  let figures = output.split(separator: " ").compactMap { Double($0) }
  guard !figures.isEmpty else { throw Failure("\(words.joined(separator: " ")): no figure") }
  return figures
}

/// The same rows in a table without an index, 1,000 in a transaction that is synced.
private func fill(_ count: Int) throws -> (database: RawDatabase, nanoseconds: Double) {
  let database = try RawDatabase(Files.new(), synchronous: "FULL")
  try database.execute(
    """
    PRAGMA journal_mode = WAL;
    CREATE TABLE entry (account, store, key, tag, value, hlc, origin, seq,
      PRIMARY KEY (account, store, key)) WITHOUT ROWID
    """)
  let insert = try database.prepare(
    "INSERT OR REPLACE INTO entry VALUES (1, 'cloud', ?1, 1, ?2, ?3, 7, ?3)")
  let value = String(repeating: "v", count: 80)
  let time = try nanoseconds { _ in
    for start in stride(from: 0, to: count, by: 1_000) {
      try database.execute("BEGIN")
      for number in start..<min(start + 1_000, count) {
        insert.bind(1, "key \(1_000_000 + number)")
        insert.bind(2, value)
        insert.bind(3, Int64(number))
        try insert.run()
      }
      try database.execute("COMMIT")
    }
  }
  return (database, time)
}

private func readAll(_ database: RawDatabase) throws -> Double {
  try nanoseconds { _ in
    try database.prepare("SELECT * FROM entry WHERE account = 1").run()
  }
}
