// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

private let kinds =
  ["SQLite, C API", "GRDB alone"] + KeyValuePeer.names + [jsonFile, "UserDefaults"]

func opens(_ report: Report) {
  for size in Scale.sizes { report.run(opens(size)) }
  for size in Scale.sizes { report.run(opensAgain(size)) }
  for size in Scale.sizes { report.run(memory(size)) }
}

/// A file that was opened before, with everything in memory that the system keeps of it.
private func opens(_ size: Int) -> Race {
  let race = Race(
    rounds: 5...41, seconds: 3, growth: .init(cost: "Opening, and reading one key", keys: size))
  let key = Fixture.key(size / 2)
  race.enter("Keepsake", { try Fixture(keys: size).copy() }) { path in
    try opened { try BenchmarkSettings(path) } read: { $0.string(forKey: key) }
  }
  race.enter("SQLite, C API", { try Fixture(keys: size).copy() }) { path in
    try opened { try RawDatabase(path) } read: { try read(key, from: $0) }
  }
  race.enter("GRDB alone", { try Fixture(keys: size).copy() }) { path in
    try opened { try GRDBSets(path) } read: { try $0.get(key) }
  }
  for name in KeyValuePeer.names {
    race.enter(
      name,
      {
        let path = Files.new(".\(name)")
        _ = try KeyValuePeer(name, path: path, keys: size)
        return path
      }
    ) { path in
      try opened { try KeyValuePeer(name, path: path) } read: { $0.get(key) }
    }
  }
  race.enter(jsonFile, { try JSONFile(keys: size).path }) { path in
    try opened { try JSONFile<String>(path: path) } read: { $0.get(key) }
  }
  race.enter("UserDefaults", { try FoundationDefaults.suite(keys: size) }) { suite in
    // A process keeps what it has read, so that each round takes a new one, which has the clock.
    guard let time = Double(try Command.role("open defaults", [suite, key])) else {
      throw Failure("no time")
    }
    return time
  }
  race.row("open, read one of \(Scale.name(size))", "Keepsake", beside: kinds)
  return race
}

/// A second object for a file that this process has open.
private func opensAgain(_ size: Int) -> Race {
  let race = Race(
    rounds: 5...41, seconds: 2,
    growth: .init(cost: "Opening again, and reading one key", keys: size))
  let key = Fixture.key(size / 2)
  race.enter(
    "Keepsake",
    {
      let path = try Fixture(keys: size).copy()
      return (path, try BenchmarkSettings(path))
    }
  ) { path, first in
    try withExtendedLifetime(first) {
      try opened { try BenchmarkSettings(path) } read: { $0.string(forKey: key) }
    }
  }
  race.enter(
    "SQLite, C API",
    {
      let path = try Fixture(keys: size).copy()
      return (path, try RawDatabase(path))
    }
  ) { path, first in
    try withExtendedLifetime(first) {
      try opened { try RawDatabase(path) } read: { try read(key, from: $0) }
    }
  }
  race.row("open again, read one of \(Scale.name(size))", "Keepsake", beside: ["SQLite, C API"])
  return race
}

private func read(_ key: String, from database: RawDatabase) throws -> String? {
  let statement = try database.prepare(SQL.read)
  statement.bind(1, key)
  try statement.step()
  return statement.text(1)
}

/// The time without closing.
func opened<Subject>(
  _ open: () throws -> Subject, read: (Subject) throws -> String?
) throws -> Double {
  let start = now()
  let subject = try open()
  let value = try read(subject)
  let time = Double(now() - start)
  guard value != nil else { throw Failure("the key is missing") }
  return withExtendedLifetime(subject) { time }
}

/// What a process has in memory once it has read all keys, less what it had before.
private func memory(_ size: Int) -> Race {
  let race = Race(
    [Measure(suffix: "", unit: .bytes)], rounds: 1...3, seconds: 5, warmsUp: false,
    growth: .init(cost: "Memory, all keys read", keys: size))
  func measure(_ words: [String]) throws -> Double {
    guard let bytes = Double(try Command.role("memory", words + ["\(size)"])) else {
      throw Failure("no figure")
    }
    return bytes
  }
  race.enter("Keepsake", { try Fixture(keys: size).copy() }) { try measure(["Keepsake", $0]) }
  race.enter("dictionary") { try measure(["dictionary", "-"]) }
  race.enter("UserDefaults", { try FoundationDefaults.suite(keys: size) }) {
    try measure(["UserDefaults", $0])
  }
  race.enter(jsonFile, { try JSONFile(keys: size).path }) { try measure([jsonFile, $0]) }
  race.row(
    "memory, \(Scale.name(size)) keys read", "Keepsake",
    beside: ["dictionary", "UserDefaults", jsonFile])
  return race
}

/// The other process.
enum OpenRoles {
  static func openDefaults(_ suite: String, _ key: String) throws {
    let start = now()
    guard let defaults = UserDefaults(suiteName: suite), defaults.string(forKey: key) != nil else {
      throw Failure("the key is missing")
    }
    print(now() - start)
  }

  static func memory(_ kind: String, _ path: String, _ keys: Int) throws {
    let before = try residentBytes()
    switch kind {
    case "Keepsake":
      let settings = try BenchmarkSettings(path)
      for number in 0..<keys { blackHole(settings.string(forKey: Fixture.key(number))) }
      print(try residentBytes() - before)
      blackHole(settings)
    case "UserDefaults":
      let defaults = UserDefaults(suiteName: path)
      for number in 0..<keys { blackHole(defaults?.string(forKey: Fixture.key(number))) }
      print(try residentBytes() - before)
      blackHole(defaults)
    case jsonFile:
      let file = try JSONFile<String>(path: path)
      for number in 0..<keys { blackHole(file.get(Fixture.key(number))) }
      print(try residentBytes() - before)
      blackHole(file)
    default:
      var values: [String: String] = [:]
      for number in 0..<keys { values[Fixture.key(number)] = Fixture.value(number) }
      print(try residentBytes() - before)
      blackHole(values)
    }
  }

  /// With the pages of mapped files that were read.
  static func residentBytes() throws -> Int {
    let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
      separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { throw Failure("no figure") }
    return pages * Int(getpagesize())
  }
}
