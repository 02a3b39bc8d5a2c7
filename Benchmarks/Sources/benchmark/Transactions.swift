// SPDX-License-Identifier: Apache-2.0

import Keepsake

/// A thousand keys of so many, in one transaction.
func transactions(among size: Int) -> Race {
  let race = Race(
    rounds: 3...31, seconds: 2, growth: .init(cost: "1,000 sets in a transaction", keys: size))
  var round = 0
  /// One key after the other, each with a value that it did not have.
  func writes() -> [(String, String)] {
    round += 1
    let start = round * 1_000
    return (start..<(start + 1_000)).map {
      (Fixture.key($0 * 7_368_787 % size), Fixture.value($0 / size))
    }
  }
  race.enter("Keepsake", { try BenchmarkSettings(Fixture(keys: size).copy()) }) { settings in
    let writes = writes()
    return try nanoseconds { _ in
      try settings.transaction { for (key, value) in writes { settings.set(value, forKey: key) } }
    }
  }
  race.enter("SQLite, C API", { try RawSets(Fixture(keys: size).copy()) }) { sets in
    let writes = writes()
    return try nanoseconds { _ in try sets.transaction(writes) }
  }
  race.enter("GRDB alone", { try GRDBSets(Fixture(keys: size).copy()) }) { sets in
    let writes = writes()
    return try nanoseconds { _ in try sets.transaction(writes) }
  }
  for name in KeyValuePeer.names {
    race.enter(name, { try KeyValuePeer(name, keys: size) }) { peer in
      let writes = writes()
      let (keys, values) = (writes.map(\.0).joined(), writes.map(\.1).joined())
      return try nanoseconds { _ in try peer.put(keys, values, count: writes.count) }
    }
  }
  race.enter(jsonFile, { try JSONFile(keys: size) }) { file in
    let writes = writes()
    return try nanoseconds { _ in try file.transaction(writes) }
  }
  race.row(
    "1,000 sets in a transaction, of \(Scale.name(size)) keys", "Keepsake",
    beside: ["SQLite, C API", "GRDB alone"] + KeyValuePeer.names + [jsonFile])
  return race
}
