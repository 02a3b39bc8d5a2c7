// SPDX-License-Identifier: Apache-2.0
//
// Observing one key, or a whole store, of a file of so many keys.

import Foundation
import Keepsake
import Synchronization

private let ours = "Keepsake"
private let raw = "SQLite, C API"

func observing(_ report: Report) {
  for size in Scale.sizes { report.run(beginning(size, ofAll: false)) }
  for size in Scale.sizes { report.run(beginning(size, ofAll: true)) }
  for size in Scale.sizes { report.run(setting(size)) }
  for count in Scale.observers { report.run(setting(besideObservers: count)) }
  for size in Scale.sizes { report.run(hearing(size)) }
}

private func keys(_ size: Int) -> String { "of \(Scale.name(size)) keys" }

/// The first observer of a file, to its end: a store's values have to be known, to tell of changes.
private func beginning(_ size: Int, ofAll: Bool) -> Race {
  let what = ofAll ? "a store" : "a key"
  let race = Race(
    rounds: 3...61, seconds: 1, growth: .init(cost: "Observing \(what)", keys: size))
  let key = Fixture.key(size / 2)
  race.enter(ours, { try BenchmarkSettings(Fixture(keys: size).copy()) }) { settings in
    nanoseconds { _ in settings.observe(ofAll ? .all : .keys([key])) { _ in }.cancel() }
  }
  let sql = "SELECT key, value FROM entry WHERE store = 'defaults'"
  race.enter(
    raw,
    {
      try RawDatabase(Fixture(keys: size).copy())
        .prepare(sql + (ofAll ? "" : " AND key = '\(key)'"))
    }
  ) { statement in try nanoseconds { _ in try statement.run() } }
  race.row("begin to observe \(what) \(keys(size))", ours, beside: [raw])
  return race
}

/// A set while the whole store is observed.
private func setting(_ size: Int) -> Race {
  let race = Race(
    rounds: 9...101, seconds: 1, growth: .init(cost: "Setting a key that is observed", keys: size))
  let many = 40
  var round = 0
  race.enter(
    ours,
    {
      let settings = try BenchmarkSettings(Fixture(keys: size).copy())
      return (settings, settings.observe { _ in })
    }
  ) { settings, token in
    round += 1
    return withExtendedLifetime(token) {
      nanoseconds(many) {
        let number = (round * many + $0) * 7_368_787 % size
        settings.set(Fixture.value(round), forKey: Fixture.key(number))
      }
    }
  }
  race.enter(raw, { try RawSets(Fixture(keys: size).copy()) }) { sets in
    round += 1
    return try nanoseconds(many) {
      let number = (round * many + $0) * 7_368_787 % size
      try sets.set(Fixture.key(number), Fixture.value(round))
    }
  }
  race.row("set with an observer of a store \(keys(size))", ours, beside: [raw])
  return race
}

/// A set of a key that has an observer, while every other key has one of its own.
private func setting(besideObservers count: Int) -> Race {
  let one = "one observer"
  let race = Race(
    rounds: 9...101, seconds: 1,
    growth: .init(cost: "Setting one of many observed keys", .observers, count))
  for (name, observed) in [(ours, 0..<count), (one, count / 2..<count / 2 + 1)] {
    race.enter(name, { try ObservedKeys(count, observed: observed) }) { try $0.round() }
  }
  race.row("set with \(Scale.name(count)) observers of different keys", ours, beside: [one])
  return race
}

/// A file of so many keys, some of which have an observer.
private final class ObservedKeys {
  private let settings: BenchmarkSettings
  private let key: String
  private let tokens: [ObservationToken]
  private let heard = Box()
  private var count = 0

  private final class Box: Sendable { let count = Atomic(0) }

  init(_ keys: Int, observed: Range<Int>) throws {
    settings = try BenchmarkSettings(Fixture(keys: keys).copy())
    key = Fixture.key(keys / 2)
    tokens = observed.map { [settings, heard] number in
      settings.observe(.keys([Fixture.key(number)])) { _ in
        heard.count.add(1, ordering: .relaxed)
      }
    }
  }

  /// Sets the key to another value each time: its observer is told before a set returns.
  func round() throws -> Double {
    let time = nanoseconds(40) { _ in
      count += 1
      settings.set(Fixture.value(count % 2), forKey: key)
    }
    guard heard.count.load(ordering: .relaxed) == count else {
      throw Failure("a set was not heard")
    }
    return time
  }
}

/// A set of another process, while the whole store is observed.
private func hearing(_ size: Int) -> Race {
  let race = Race(
    Measure.distribution, rounds: 5...15, seconds: 4,
    growth: .init(cost: "Hearing a set of another process", keys: size))
  race.enter(
    ours,
    {
      let settings = try BenchmarkSettings(Fixture(keys: size).copy())
      return Listener(
        [settings], keys: .all, to: try Command.start("tell", [settings.device.path]))
    }
  ) { try $0.round() }
  race.enter(FileListener.name, FileListener.init) { try $0.round() }
  race.row("a set is heard, store \(keys(size))", ours, beside: [FileListener.name])
  return race
}
