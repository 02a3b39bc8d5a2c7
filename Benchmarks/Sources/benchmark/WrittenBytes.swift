// SPDX-License-Identifier: Apache-2.0
//
// What a set makes a process write.

import Foundation
import Keepsake

private let ours = "Keepsake"
private let (raw, grdb) = ("SQLite, C API", "GRDB alone")
private let foundation = "UserDefaults, set and synchronize()"

/// The bytes that a process passes to write calls for one set of many. Those do not count that it
/// writes into mapped memory, nor those that LevelDB will write when it merges its files.
func writtenBytes(among size: Int) -> Race {
  let race = Race(
    [Measure(suffix: "", unit: .bytes)], rounds: 1...3, seconds: 1, warmsUp: false,
    growth: .init(cost: "Bytes written by a set", keys: size))
  func enter(_ name: String, _ make: () throws -> String) {
    race.enter(name, make) { path in
      guard let bytes = Double(try Command.role("written bytes", [name, path, "\(size)"])) else {
        throw Failure("no figure")
      }
      return bytes
    }
  }
  for name in [ours, raw, grdb] { enter(name) { try Fixture(keys: size).copy() } }
  for name in KeyValuePeer.names {
    enter(name) {
      let path = Files.new(".\(name)")
      _ = try KeyValuePeer(name, path: path, keys: size)
      return path
    }
  }
  enter(jsonFile) { try JSONFile(keys: size).path }
  enter(foundation) { try FoundationDefaults.suite(keys: size) }
  race.row(
    "bytes written (wchar) by a set, of \(Scale.name(size)) keys", ours,
    beside: [raw, grdb] + KeyValuePeer.names + [jsonFile, foundation])
  return race
}

/// The other process.
enum WriteRoles {
  static func writtenBytes(_ kind: String, _ path: String, _ keys: Int) throws {
    switch kind {
    case ours:
      let settings = try BenchmarkSettings(path)
      try each(keys) { settings.set($1, forKey: $0) }
    case raw:
      let sets = try RawSets(path)
      try each(keys) { try sets.set($0, $1) }
    case grdb:
      let sets = try GRDBSets(path)
      try each(keys) { try sets.set($0, $1) }
    case jsonFile:
      let file = try JSONFile<String>(path: path)
      try each(keys, 2) { try file.set($0, $1) }
    case foundation:
      let defaults = UserDefaults(suiteName: path)
      try each(keys, 2) {
        defaults?.set($1, forKey: $0)
        guard defaults?.synchronize() == true else { throw Failure("synchronize() failed") }
      }
    default:
      let peer = try KeyValuePeer(kind, path: path)
      try each(keys) { try peer.put($0, $1) }
    }
  }

  /// Sets one key after the other: often enough that SQLite also copies its log into the file.
  private static func each(
    _ keys: Int, _ count: Int = 4_000, _ set: (String, String) throws -> Void
  ) throws {
    let before = try bytes()
    for number in 0..<count {
      try set(Fixture.key(number * 7_368_787 % keys), Fixture.value(number / keys + 1))
    }
    print(try (bytes() - before) / count)
  }

  private static func bytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    guard let bytes = line.flatMap({ Int($0.dropFirst(7)) }) else { throw Failure("no figure") }
    return bytes
  }
}
