// SPDX-License-Identifier: Apache-2.0
//
// Hubs as devices use them: a process of its own, whose devices are in a third one.

import CSQLite
import Foundation

private let ours = "a hub over HTTP"
private let redis = "Redis, appendfsync always"
private let disk = "32 KiB written, fsync"
private let table = "one table, C API"

func hubs(_ report: Report) {
  let (seconds, few) = (Scale.isQuick ? "0.3" : "4", Scale.isQuick ? 2 : 20)
  let pushes = race("10 rows pushed, 64 accounts at once", beside: [redis]) {
    [1e9 / (try $0.figures(["pushes", "--seconds", seconds])[0])]
  }
  pushes.enter(redis, Redis.init) {
    try $0.nanoseconds("mset", Scale.isQuick ? 100 : 30_000, connections: 64)
  }
  report.run(pushes)
  overPostgres(report, "10 rows pushed, 64 accounts at once, PostgreSQL", seconds)
  let push = race("a setting pushed", beside: [disk, redis]) {
    [1e3 * (try $0.figures(["nothing", "--rows", "\(few)"])[1])]
  }
  push.enter(disk) { try synced(10 * few) }
  push.enter(redis, Redis.init) { try $0.nanoseconds("set", 100 * few, connections: 1) }
  report.run(push)
  report.run(
    race("nothing new") { [1e3 * (try $0.figures(["nothing", "--rows", "\(few)"])[0])] })
  report.run(
    race("a set is heard on another device", [", p50", ", p99"], rounds: 1...1) {
      try $0.figures(["heard", "--rows", "\(2 * few)"])
    })
  let rows = Scale.isQuick ? 1_000 : 100_000
  let bulk = race("\(Scale.name(rows)) rows, pages of 1,000", beside: [table], [", up", ", down"]) {
    try $0.figures(["bulk", "--rows", "\(rows)"]).dropFirst().map { $0 * 1e9 }
  }
  bulk.enter(table, {}) {
    let (database, time) = try fill(rows)
    return [time, try readAll(database)]
  }
  report.run(bulk)
  report.run(listeners())
}

private func listeners() -> Race {
  let count = Scale.isQuick ? 40 : 1_000
  let race = Race(
    [
      Measure(suffix: ", memory of each", unit: .bytes),
      Measure(suffix: ", processor time of all in a second", unit: .nanoseconds),
    ], rounds: 1...1, warmsUp: false)
  race.enter(ours, { try ServedHub() }) { hub in
    try hub.figures([
      "listeners", "--clients", "\(count)", "--hub", "\(hub.process.processIdentifier)",
    ])
  }
  race.row("\(Scale.name(count)) idle listeners", ours, beside: [])
  return race
}

private func race(
  _ work: String, beside others: [String] = [], _ suffixes: [String] = [""],
  rounds: ClosedRange<Int> = 3...9, _ measure: @escaping (ServedHub) throws -> [Double]
) -> Race {
  let measures = suffixes.map { Measure(suffix: $0, unit: .nanoseconds) }
  let race = Race(measures, rounds: rounds, seconds: 8, warmsUp: false)
  race.enter(ours, { try ServedHub() }, measure)
  race.row(work, ours, beside: others)
  return race
}

/// A hub of this machine.
final class ServedHub {
  let process = Process()
  private let port, secret: String

  /// - Parameter place: options of `kvsync hub serve` that say where accounts are.
  init(_ place: [String] = ["--data", Files.new("-hub")]) throws {
    secret = Files.new("-secret")
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try Command.kvsync + "-hub")
    process.arguments =
      ["hub", "serve"] + place + ["--secret", secret, "--listen", "127.0.0.1:0", "--log", "error"]
      + ["--limit", "requestsPerMinute=1000000000", "--limit", "connections=4000"]
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let address = line.split(separator: ",").first, address.hasPrefix("http://") else {
      throw Failure("the hub does not serve: \(line)")
    }
    port = address.split(separator: ":").last.map(String.init) ?? ""
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  /// The figures that `keepsake-hub-probe` prints, at least two.
  func figures(_ words: [String]) throws -> [Double] {
    let probe = [Command.beside("keepsake-hub-probe"), "http", port, secret]
    let output = try Command.run(probe + words)
    let figures = output.split { $0.isWhitespace }.compactMap { Double($0) }
    guard figures.count > 1 else { throw Failure("the probe says \(output)") }
    return figures
  }
}

/// Nanoseconds of each of so many writes that are on the disk.
private func synced(_ count: Int) throws -> Double {
  let file = open(Files.new("-synced"), O_WRONLY | O_CREAT, 0o600)
  defer { close(file) }
  let bytes = [UInt8](repeating: 1, count: 32 << 10)
  return try nanoseconds(count) { _ in
    guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
      throw Failure("the file cannot be written")
    }
  }
}

/// The same rows in a table without an index, 1,000 in a transaction that is synced.
private func fill(_ count: Int) throws -> (database: RawDatabase, nanoseconds: Double) {
  let database = try RawDatabase(Files.new(), synchronous: "FULL")
  try database.execute(
    """
    PRAGMA journal_mode = WAL;
    CREATE TABLE entry (account, number, key, body, PRIMARY KEY (account, key)) WITHOUT ROWID
    """)
  let insert = try database.prepare(
    "INSERT OR REPLACE INTO entry VALUES (1, ?3, ?1, ?2)")
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
