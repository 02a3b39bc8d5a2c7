// SPDX-License-Identifier: Apache-2.0
//
// `kvsync` as its user sees it: from the start of the process to its end, beside SQLite's shell.

import Foundation

private let shell = "sqlite3, the same SQL"

func commands(_ report: Report) {
  for size in Scale.sizes { report.run(get(size)) }
  for size in Scale.sizes { report.run(set(size)) }
  for size in Scale.sizes { report.run(list(size)) }
  for size in Scale.sizes {
    report.run(imports(size))
    report.run(exports(size))
    report.run(merge(size))
  }
}

private func get(_ size: Int) -> Race {
  let race = Race(
    rounds: 5...31, seconds: 2, growth: .init(cost: "kvsync get", keys: size))
  let key = Fixture.key(size / 2)
  let file = { try Fixture(keys: size).copy() }
  race.enter("kvsync get", file) { path in
    try Command.measure([Command.kvsync, "get", path, key, "--store", "defaults"]).nanoseconds
  }
  race.enter("kvsync --version") {
    try Command.measure([Command.kvsync, "--version"]).nanoseconds
  }
  race.enter(shell, { (try Command.find("sqlite3"), try file()) }) { sqlite, path in
    let sql = "SELECT value FROM entry WHERE store = 'defaults' AND key = '\(key)'"
    return try Command.measure([sqlite, path, sql]).nanoseconds
  }
  race.row(
    "kvsync get, of \(Scale.name(size)) keys", "kvsync get", beside: ["kvsync --version", shell])
  return race
}

private func set(_ size: Int) -> Race {
  let race = Race(
    rounds: 5...31, seconds: 2, growth: .init(cost: "kvsync set", keys: size))
  let key = Fixture.key(size / 2)
  let file = { try Fixture(keys: size).copy() }
  var number = 0
  func value() -> String {
    number += 1
    return "value \(number)"
  }
  race.enter("kvsync set", file) { path in
    try Command.measure([Command.kvsync, "set", path, key, value(), "--store", "defaults"])
      .nanoseconds
  }
  race.enter("kvsync --version") {
    try Command.measure([Command.kvsync, "--version"]).nanoseconds
  }
  race.enter(shell, { (try Command.find("sqlite3"), try file()) }) { sqlite, path in
    let sql = """
      UPDATE entry SET value = '\(value())', timestamp = timestamp + 1,
        sequence_number = (SELECT max(sequence_number) + 1 FROM entry)
      WHERE store = 'defaults' AND key = '\(key)'
      """
    return try Command.measure([sqlite, path, sql]).nanoseconds
  }
  race.row(
    "kvsync set, of \(Scale.name(size)) keys", "kvsync set", beside: ["kvsync --version", shell])
  return race
}

/// A list is not read to its end by whoever pipes it into `head` or `less`.
private func list(_ size: Int) -> Race {
  let race = Race(
    [Measure(suffix: ", first line", unit: .nanoseconds), .peak], rounds: 2...15, seconds: 2,
    warmsUp: size < 100_000, growth: .init(cost: "kvsync list", keys: size))
  func enter(_ name: String, _ words: () throws -> [String]) {
    race.enter(name, words) { try Command.measure($0, output: Command.firstLine).figures }
  }
  let file = { try Fixture(keys: size).copy() }
  enter("kvsync list") { [try Command.kvsync, "list", try file()] }
  enter("kvsync --version") { [try Command.kvsync, "--version"] }
  let sql = "SELECT store, key, 'string', json_quote(value) FROM entry ORDER BY store, key"
  enter(shell) { [try Command.find("sqlite3"), try file(), sql] }
  race.row(
    "kvsync list, of \(Scale.name(size)) keys", "kvsync list", beside: ["kvsync --version", shell])
  return race
}

/// Once or twice where a round takes seconds.
private func slow(_ size: Int, _ cost: String, _ measures: [Measure] = [.time, .peak]) -> Race {
  Race(
    measures, rounds: size >= 1_000_000 ? 2...3 : 3...15, seconds: 3, warmsUp: size < 100_000,
    growth: .init(cost: cost, keys: size))
}

extension Command.Cost {
  fileprivate var figures: [Double] { [nanoseconds, peakBytes] }
}

private func imports(_ size: Int) -> Race {
  let race = slow(size, "kvsync import")
  race.enter("kvsync import", { try lines(size) }) { input in
    let path = Files.new()
    let cost = try Command.measure([Command.kvsync, "import", path, input, "--quiet"])
    try Files.remove(path)
    return cost.figures
  }
  let name = "sqlite3 .import of a CSV"
  race.enter(name, { (try Command.find("sqlite3"), try table(size)) }) { sqlite, input in
    let path = Files.new()
    let cost = try Command.measure([
      sqlite, path, "PRAGMA journal_mode = WAL", schema, ".import --csv \(input) entry",
    ])
    try Files.remove(path)
    return cost.figures
  }
  race.row("kvsync import, \(Scale.name(size)) lines", "kvsync import", beside: [name])
  return race
}

private func exports(_ size: Int) -> Race {
  let race = slow(size, "kvsync export")
  let file = { try FilePair.synced(size).copy() }
  race.enter("kvsync export", file) { path in
    try Command.measure([Command.kvsync, "export", path], output: Files.folder + "/exported")
      .figures
  }
  race.enter(shell, { (try Command.find("sqlite3"), try file()) }) { sqlite, path in
    let sql = """
      SELECT json_object('store', store, 'key', key, 'type', 'string', 'value', value, 'at',
        strftime('%Y-%m-%dT%H:%M:%fZ', (timestamp >> 16) / 1000.0, 'unixepoch')) FROM entry
      ORDER BY timestamp, sequence_number
      """
    return try Command.measure([sqlite, path, sql], output: Files.folder + "/exported").figures
  }
  race.row("kvsync export, \(Scale.name(size)) lines", "kvsync export", beside: [shell])
  return race
}

/// Of 1,000 changes, between files that have met.
private func merge(_ size: Int) -> Race {
  let race = slow(size, "kvsync merge of 1,000 changes")
  do {
    let met = try MetPair(size)
    func merge(_ pair: FilePair) throws -> [Double] {
      try Command.measure([Command.kvsync, "merge", "--quiet"] + pair.paths).figures
    }
    // A copy was never checked: its first merge reads it whole.
    let settled = {
      let pair = try met.copy()
      try met.import(pair)
      _ = try merge(pair)
      return pair
    }
    race.enter("kvsync merge", settled) { pair in
      try met.import(pair)
      return try merge(pair)
    }
    race.enter(shell, { (try Command.find("sqlite3"), try met.copy()) }) { sqlite, pair in
      let before = try met.change(pair)
      let sql = FilePair.upsert(
        from: pair.paths[0],
        "FROM sender.entry INDEXED BY entry_sequence WHERE sequence_number > \(before)",
        base: "(\(FilePair.last))")
      return try Command.measure([sqlite, pair.paths[1], sql]).figures
    }
  } catch {
    race.leaveOut("kvsync merge", "\(error)")
  }
  let (changed, all) = (Scale.name(min(1_000, size)), Scale.name(size))
  race.row("kvsync merge, \(changed) changes in 2 × \(all)", "kvsync merge", beside: [shell])
  return race
}

// MARK: - What is imported

private func lines(_ size: Int) throws -> String {
  try text(size, ".jsonl") { key, value in
    #"{"store":"cloud","key":"\#(key)","type":"string","value":"\#(value)"}"#
  }
}

/// The same for SQLite: every column of our table.
private func table(_ size: Int) throws -> String {
  var number = 0
  return try text(size, ".csv") { key, value in
    number += 1
    return "cloud,\(key),1,\(value),\(number << 16),1,\(number)"
  }
}

private func text(_ size: Int, _ suffix: String, _ line: (String, String) -> String) throws
  -> String
{
  let path = Files.new(suffix)
  let text = (0..<size).map { line(Fixture.key($0), Fixture.value($0)) + "\n" }.joined()
  try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  return path
}

private let schema = """
  CREATE TABLE entry (store TEXT NOT NULL, key TEXT NOT NULL, type INTEGER NOT NULL, value ANY,
    timestamp INTEGER NOT NULL, replica_id INTEGER NOT NULL, sequence_number INTEGER NOT NULL,
    PRIMARY KEY (store, key)) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX entry_sequence ON entry (sequence_number);
  """
