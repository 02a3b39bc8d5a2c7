// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

private let many = 40
/// What is synced waits for a disk.
private let fewer = 10
private let foundation = "UserDefaults, set and synchronize()"

func writes(_ report: Report) {
  for (name, durability, synchronous) in [
    ("crashSafe", Durability.crashSafe, "NORMAL"), ("powerSafe", .powerSafe, "FULL"),
  ] {
    report.run(sets(name, durability, synchronous))
  }
  report.run(setsOfValues())
  report.run(transactions())
  for size in Scale.sizes { report.run(sets(among: size)) }
  for size in Scale.sizes { report.run(transactions(among: size)) }
  for size in Scale.sizes where size <= FoundationDefaults.most {
    report.run(writtenBytes(among: size))
  }
}

/// A key of its own is set by turns to two values.
private func sets(_ name: String, _ durability: Durability, _ synchronous: String) -> Race {
  let race = Race(rounds: 25...401, seconds: 10)
  let isSynced = durability == .powerSafe
  let many = isSynced ? fewer : many
  let (c, grdb) = ("SQLite, C API, synchronous=\(synchronous)", "GRDB alone, \(synchronous)")
  race.enter("ours", { try BenchmarkSettings(durability: durability) }) { settings in
    try nanoseconds(many) { try settings.$username.write(Fixture.value($0 % 2)) }
  }
  race.enter(c, { try RawSets(synchronous: synchronous) }) { sets in
    try nanoseconds(many) { try sets.set("username", Fixture.value($0 % 2)) }
  }
  race.enter(grdb, { try GRDBSets(synchronous: synchronous) }) { sets in
    try nanoseconds(many) { try sets.set("username", Fixture.value($0 % 2)) }
  }
  var names = [c, grdb]
  for peer in KeyValuePeer.names {
    let name = "\(peer), \(isSynced ? "synced" : "not synced")"
    names.append(name)
    race.enter(name, { try KeyValuePeer(peer, synced: isSynced) }) { peer in
      try nanoseconds(many) { try peer.put("username", Fixture.value($0 % 2)) }
    }
  }
  if !isSynced {
    names += ["UserDefaults, set, in memory alone", foundation]
    race.enter(names[4], { try FoundationDefaults.make(keys: 1) }) { defaults in
      nanoseconds(many) { defaults.set(Fixture.value($0 % 2), forKey: "username") }
    }
    race.enter(names[5], { try FoundationDefaults.make(keys: 1) }) { defaults in
      try nanoseconds(4) {
        defaults.set(Fixture.value($0 % 2), forKey: "username")
        guard defaults.synchronize() else { throw Failure("synchronize() failed") }
      }
    }
  }
  names.append(isSynced ? syncedJSONFile : jsonFile)
  race.enter(names[names.count - 1], { try JSONFile(keys: 1, synced: isSynced) }) { file in
    try nanoseconds(4) { try file.set("username", Fixture.value($0 % 2)) }
  }
  race.row("set, .\(name)", "ours", beside: names)
  return race
}

private func transactions() -> Race {
  let race = Race(seconds: 10)
  let writes = (0..<1_000).map { ("username", Fixture.value($0 % 2)) }
  race.enter("ours", { try BenchmarkSettings() }) { settings in
    try nanoseconds { _ in
      try settings.transaction {
        for (_, value) in writes { try settings.$username.write(value) }
      }
    }
  }
  race.enter("SQLite, C API", { try RawSets() }) { sets in
    try nanoseconds { _ in try sets.transaction(writes) }
  }
  race.enter("GRDB alone", { try GRDBSets() }) { sets in
    try nanoseconds { _ in try sets.transaction(writes) }
  }
  for name in KeyValuePeer.names {
    race.enter(name, { try KeyValuePeer(name) }) { peer in
      let (keys, values) = (writes.map(\.0).joined(), writes.map(\.1).joined())
      return try nanoseconds { _ in try peer.put(keys, values, count: writes.count) }
    }
  }
  race.enter(jsonFile, { try JSONFile(keys: 1) }) { file in
    try nanoseconds { _ in try file.transaction(writes) }
  }
  race.row(
    "1,000 sets in a transaction", "ours",
    beside: ["SQLite, C API", "GRDB alone"] + KeyValuePeer.names + [jsonFile])
  return race
}

private func sets(among size: Int) -> Race {
  let race = Race(rounds: 3...101, seconds: 4, growth: .init(cost: "Setting a key", keys: size))
  var round = 0
  /// Other keys in each round, each with a value that it did not have.
  func each(_ count: Int, _ set: (String, String) throws -> Void) throws -> Double {
    round += 1
    return try nanoseconds(count) {
      let number = (round * many + $0) * 7_368_787 % size
      try set(Fixture.key(number), Fixture.value(round))
    }
  }
  race.enter("Keepsake", { try BenchmarkSettings(Fixture(keys: size).copy()) }) { settings in
    try each(many) { settings.set($1, forKey: $0) }
  }
  race.enter("SQLite, C API", { try RawSets(Fixture(keys: size).copy()) }) { sets in
    try each(many) { try sets.set($0, $1) }
  }
  race.enter("GRDB alone", { try GRDBSets(Fixture(keys: size).copy()) }) { sets in
    try each(many) { try sets.set($0, $1) }
  }
  for name in KeyValuePeer.names {
    race.enter("\(name), not synced", { try KeyValuePeer(name, keys: size) }) { peer in
      try each(many) { try peer.put($0, $1) }
    }
  }
  race.enter(foundation, { try FoundationDefaults.make(keys: size) }) { defaults in
    try each(size >= 1_000 ? 1 : 4) {
      defaults.set($1, forKey: $0)
      guard defaults.synchronize() else { throw Failure("synchronize() failed") }
    }
  }
  race.enter(jsonFile, { try JSONFile(keys: size) }) { file in
    try each(size >= 1_000 ? 1 : 4) { try file.set($0, $1) }
  }
  race.row(
    "set, .crashSafe, of \(Scale.name(size)) keys", "Keepsake",
    beside: ["SQLite, C API", "GRDB alone"] + KeyValuePeer.names.map { "\($0), not synced" }
      + [foundation, jsonFile])
  return race
}
