// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

private struct Preferences: Codable {
  var name = "guest"
  var volume = 5
  var tags = ["a", "b"]
}

private final class StructuredSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting(fields: "prefs.") var preferences = Preferences()

  convenience init() throws {
    try self.init(on: .temporary(), arguments: .none)
    preferences.volume = 6
  }
}

extension SettingKey where Value == Int {
  fileprivate static var count: Self { Self("count", default: 0) }
}

private let many = 20_000
private let text = Fixture.value(1)
private let lock = "lock and dictionary"
private let others = ["UserDefaults", "SQLite, C API", "GRDB alone"] + KeyValuePeer.names

private func settings() throws -> BenchmarkSettings {
  let settings = try BenchmarkSettings()
  settings.count = 5
  settings.username = text
  return settings
}

func reads(_ report: Report) {
  report.run(readsByOne())
  report.run(readsOfValues())
  report.run(readsByTwo())
  report.run(readsBesideWriter())
  for size in Scale.sizes { report.run(reads(among: size)) }
}

private func readsByOne() -> Race {
  let race = Race(rounds: 25...401, seconds: 6)
  race.enter("Int", settings) { settings in
    nanoseconds(many) { _ in blackHole(settings.count) }
  }
  race.enter("String", settings) { settings in
    nanoseconds(many) { _ in blackHole(settings.username) }
  }
  let kept = SettingKey("count", default: 0)
  race.enter("kept key", settings) { settings in
    nanoseconds(many / 4) { _ in blackHole(settings[kept]) }
  }
  race.enter("new key", settings) { settings in
    nanoseconds(many / 4) { _ in blackHole(settings[.count]) }
  }
  race.enter("string(forKey:)", settings) { settings in
    nanoseconds(many / 2) { _ in blackHole(settings.string(forKey: "username")) }
  }
  race.enter("fields", StructuredSettings.init) { settings in
    nanoseconds(many) { _ in blackHole(settings.preferences) }
  }
  race.enter("\(lock): Int", { LockedValues(["count": 5]) }) { values in
    nanoseconds(many) { _ in blackHole(values.get("count")) }
  }
  race.enter("\(lock): String", { LockedValues(["username": text]) }) { values in
    nanoseconds(many) { _ in blackHole(values.get("username")) }
  }
  race.enter("\(lock): structure", { LockedValues(["prefs": Preferences()]) }) { values in
    nanoseconds(many) { _ in blackHole(values.get("prefs")) }
  }
  let defaults = { try FoundationDefaults.make(keys: 1) }
  race.enter("UserDefaults: Int", defaults) { defaults in
    nanoseconds(many / 20) { _ in blackHole(defaults.integer(forKey: "count")) }
  }
  race.enter("UserDefaults: String", defaults) { defaults in
    nanoseconds(many / 20) { _ in blackHole(defaults.string(forKey: Fixture.key(0))) }
  }
  race.row(
    "typed read of an Int", "Int", beside: ["\(lock): Int", "UserDefaults: Int"])
  race.row("typed read of a String", "String", beside: ["\(lock): String", "UserDefaults: String"])
  race.row("read by a SettingKey that is kept", "kept key", beside: ["\(lock): Int"])
  race.row("read by a SettingKey made at each use", "new key", beside: ["\(lock): Int"])
  race.row(
    "string(forKey:)", "string(forKey:)", beside: ["\(lock): String", "UserDefaults: String"])
  race.row("structure of three fields", "fields", beside: ["\(lock): structure"])
  return race
}

private func readsByTwo() -> Race {
  let race = Race(rounds: 25...401, seconds: 6)
  race.enter("Int", settings) { settings in try twice(many) { blackHole(settings.count) } }
  race.enter("String", settings) { settings in
    try twice(many) { blackHole(settings.username) }
  }
  race.enter("string(forKey:)", settings) { settings in
    try twice(many) { blackHole(settings.string(forKey: "username")) }
  }
  race.enter("\(lock): Int", { LockedValues(["count": 5]) }) { values in
    try twice(many) { blackHole(values.get("count")) }
  }
  race.enter("\(lock): String", { LockedValues(["username": text]) }) { values in
    try twice(many) { blackHole(values.get("username")) }
  }
  race.row("the same Int by two threads at once, each", "Int", beside: ["\(lock): Int"])
  race.row("the same String by two threads at once, each", "String", beside: ["\(lock): String"])
  race.row(
    "string(forKey:) by two threads at once, each", "string(forKey:)", beside: ["\(lock): String"])
  return race
}

private func readsBesideWriter() -> Race {
  let race = Race(rounds: 25...401, seconds: 6)
  race.enter("Int", settings) { settings in
    try beside({ try settings.$username.write(Fixture.value($0 % 2)) }) {
      nanoseconds(many) { _ in blackHole(settings.count) }
    }
  }
  race.enter("string(forKey:)", settings) { settings in
    try beside({ try settings.$count.write($0) }) {
      nanoseconds(many) { _ in blackHole(settings.string(forKey: "username")) }
    }
  }
  for (name, key) in [("Int", "count"), ("String", "username")] {
    race.enter("\(lock), set with SQLite: \(name)", CachedSets.init) { sets in
      try beside({ try sets.set("other", Fixture.value($0 % 2)) }) {
        nanoseconds(many) { _ in blackHole(sets.values.get(key)) }
      }
    }
  }
  race.row(
    "an Int beside a thread that writes another key", "Int",
    beside: ["\(lock), set with SQLite: Int"])
  race.row(
    "string(forKey:) beside a thread that writes", "string(forKey:)",
    beside: ["\(lock), set with SQLite: String"])
  return race
}

/// What one would write by hand: a dictionary before a file. One thread at a time sets.
private final class CachedSets: @unchecked Sendable {
  let values = LockedValues(["count": "5", "username": text])
  private let raw: RawSets
  init() throws { raw = try RawSets() }

  func set(_ key: String, _ value: String) throws {
    try raw.set(key, value)
    values.set(key, value)
  }
}

/// A thousand keys of so many, all of which were read before.
private func reads(among size: Int) -> Race {
  let race = Race(rounds: 9...201, seconds: 3, growth: .init(cost: "Reading a key", keys: size))
  let keys = (0..<min(size, 1_000)).map { Fixture.key($0 * 7_368_787 % size) }
  var next = 0
  /// So many reads, of one key after the other.
  func each(_ count: Int, _ read: (String) throws -> String?) rethrows -> Double {
    try nanoseconds(count) { _ in
      next = next + 1 < keys.count ? next + 1 : 0
      blackHole(try read(keys[next]))
    }
  }
  race.enter("Keepsake", { try BenchmarkSettings(Fixture(keys: size).copy()) }) { settings in
    each(10_000) { settings.string(forKey: $0) }
  }
  race.enter(
    lock,
    {
      LockedValues(
        Dictionary(uniqueKeysWithValues: (0..<size).map { (Fixture.key($0), Fixture.value($0)) }))
    }
  ) { values in each(10_000) { values.get($0) } }
  race.enter("UserDefaults", { try FoundationDefaults.make(keys: size) }) { defaults in
    each(500) { defaults.string(forKey: $0) }
  }
  race.enter("SQLite, C API", { try RawSets(Fixture(keys: size).copy()) }) { sets in
    try each(200) { try sets.get($0) }
  }
  race.enter("GRDB alone", { try GRDBSets(Fixture(keys: size).copy()) }) { sets in
    try each(200) { try sets.get($0) }
  }
  for name in KeyValuePeer.names {
    race.enter(name, { try KeyValuePeer(name, keys: size) }) { peer in
      each(3_000) { peer.get($0) }
    }
  }
  race.row("string(forKey:), of \(Scale.name(size)) keys", "Keepsake", beside: [lock] + others)
  return race
}
