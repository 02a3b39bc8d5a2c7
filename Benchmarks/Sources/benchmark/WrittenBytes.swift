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
    var round = 0
    race.enter(name, make) { path in
      round += 1
      let words = [name, path, "\(size)", "\(round)"]
      guard let bytes = Double(try Command.role("written bytes", words)) else {
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
  static func writtenBytes(_ kind: String, _ path: String, _ keys: Int, _ round: Int) throws {
    /// Sets one key after the other to values that it did not have, so often that SQLite also
    /// copies its log into the file.
    func each(_ count: Int = 4_000, _ set: (String, String) throws -> Void) throws {
      let before = try bytes()
      for number in 0..<count {
        try set(Fixture.key(number * 7_368_787 % keys), Fixture.value(50 * round + number / keys))
      }
      print(try (bytes() - before) / count)
    }
    switch kind {
    case ours:
      let settings = try BenchmarkSettings(path)
      try each { settings.set($1, forKey: $0) }
    case raw:
      let sets = try RawSets(path)
      try each { try sets.set($0, $1) }
    case grdb:
      let sets = try GRDBSets(path)
      try each { try sets.set($0, $1) }
    case jsonFile:
      let file = try JSONFile<String>(path: path)
      try each(2) { try file.set($0, $1) }
    case foundation:
      let defaults = UserDefaults(suiteName: path)
      try each(2) {
        defaults?.set($1, forKey: $0)
        guard defaults?.synchronize() == true else { throw Failure("synchronize() failed") }
      }
    default:
      let peer = try KeyValuePeer(kind, path: path)
      try each { try peer.put($0, $1) }
    }
  }

  private static func bytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    guard let bytes = line.flatMap({ Int($0.dropFirst(7)) }) else { throw Failure("no figure") }
    return bytes
  }
}
