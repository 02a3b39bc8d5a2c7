// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Synchronization

private let each = "an upsert each way, C API"
private let one = "an upsert, C API"

func merges(_ report: Report) {
  for size in Scale.sizes {
    report.run(cold(size))
    report.run(restore(size))
    do {
      let met = try MetPair(size)
      report.run(nothing(met))
      report.run(changes(met))
    } catch {
      report.fail("devices of \(Scale.name(size)) keys that have met", "\(error)")
    }
  }
}

/// Two files of synced keys.
struct FilePair: Sendable {
  let paths: [String]

  /// Copies, so that each round finds the same.
  init(_ fixtures: [Fixture]) throws { paths = try fixtures.map { try $0.copy() } }
  init(copies of: FilePair) throws { paths = try of.paths.map(Files.copy) }

  static func synced(_ keys: Int, side: Int = 0) -> Fixture {
    Fixture(keys: keys, store: "cloud", side: side)
  }

  /// The keys of both are the same; half of each side's values are newer.
  static func cold(_ keys: Int) throws -> FilePair {
    try FilePair([synced(keys), synced(keys, side: 1)])
  }

  func remove() throws { for path in paths { try Files.remove(path) } }

  func merge() throws {
    let devices = try paths.map { try Device(path: $0) }
    try devices[0].merge(with: devices[1])
  }

  /// The limit: one statement from the first file into the second.
  ///
  /// - Parameter rows: the FROM clause, with a WHERE.
  func upsert(_ rows: String, from: Int = 0, into: Int = 1) throws {
    let database = try RawDatabase(paths[into])
    let base = try database.number(Self.last)
    try database.execute(Self.upsert(from: paths[from], rows, base: "\(base)"))
  }

  static let last = "SELECT ifnull(max(lseq), 0) FROM entry"
  static let all = "FROM sender.entry NOT INDEXED WHERE true"

  static func upsert(from path: String, _ rows: String, base: String) -> String {
    """
    ATTACH 'file:\(path)?mode=ro' AS sender;
    BEGIN IMMEDIATE;
    INSERT INTO main.entry
    SELECT store, key, tag, value, hlc, origin, \(base) + lseq \(rows)
    ON CONFLICT (store, key) DO UPDATE SET tag = excluded.tag, value = excluded.value,
      hlc = excluded.hlc, origin = excluded.origin, lseq = excluded.lseq
    WHERE (excluded.hlc, excluded.origin) > (entry.hlc, entry.origin);
    COMMIT;
    """
  }
}

private func rounds(_ size: Int) -> ClosedRange<Int> { size >= 1_000_000 ? 2...3 : 3...21 }

/// Files that have not met.
private func cold(_ size: Int) -> Race {
  let cost = "Merging two devices that have not met"
  let race = Race(
    rounds: rounds(size), seconds: 4, warmsUp: size < 100_000,
    growth: .init(cost: cost, keys: size))
  func round(_ work: (FilePair) throws -> Void) throws -> Double {
    let pair = try FilePair.cold(size)
    let time = try nanoseconds { _ in try work(pair) }
    try pair.remove()
    return time
  }
  race.enter("Keepsake") { try round { try $0.merge() } }
  race.enter(each) {
    try round {
      try $0.upsert(FilePair.all)
      try $0.upsert(FilePair.all, from: 1, into: 0)
    }
  }
  race.row("cold merge both ways, \(Scale.name(size)) each", "Keepsake", beside: [each])
  return race
}

private func restore(_ size: Int) -> Race {
  let race = Race(
    rounds: rounds(size), seconds: 3, warmsUp: size < 100_000,
    growth: .init(cost: "Merging into an empty device", keys: size))
  func round(_ work: (FilePair) throws -> Void) throws -> Double {
    let pair = try FilePair([FilePair.synced(size), FilePair.synced(0)])
    let time = try nanoseconds { _ in try work(pair) }
    try pair.remove()
    return time
  }
  race.enter("Keepsake") { try round { try $0.merge() } }
  race.enter(one) { try round { try $0.upsert(FilePair.all) } }
  race.row("restore \(Scale.name(size)) into an empty file", "Keepsake", beside: [one])
  return race
}

/// Two files that have met, once for each contender.
final class MetPair {
  let keys: Int
  private let met: FilePair
  fileprivate var round = 0
  var changed: Int { min(1_000, keys) }

  /// Made once for all rows of a run.
  private static let made = Mutex<[Int: FilePair]>([:])

  init(_ keys: Int) throws {
    self.keys = keys
    met = try Self.made.withLock { made in
      if let pair = made[keys] { return pair }
      let pair = try FilePair.cold(keys)
      try Command.run([Command.kvsync, "merge", "--quiet"] + pair.paths)
      made[keys] = pair
      return pair
    }
  }

  func copy() throws -> FilePair { try FilePair(copies: met) }

  /// Writes keys of the first file again, spread over all of them.
  ///
  /// - Returns: the last local sequence number before.
  func change(_ pair: FilePair) throws -> Int64 {
    round += 1
    let database = try RawDatabase(pair.paths[0])
    let before = try database.number(FilePair.last)
    try database.execute(
      """
      UPDATE entry SET hlc = hlc + (10 << 16), origin = (SELECT id FROM replica), lseq =
        (SELECT max(lseq) FROM entry) + 1 + CAST(substr(key, 5) AS INTEGER)
      WHERE store = 'cloud' AND key IN (
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(changed - 1))
        SELECT printf('key-%07d', (i * 7368787 + \(round)) % \(keys)) FROM n)
      """)
    return before
  }
}

extension MetPair {
  /// As `change`, by the command.
  func `import`(_ pair: FilePair) throws {
    round += 1
    let lines = (0..<changed).map { number in
      let key = Fixture.key((number * 7_368_787 + round) % keys)
      let value = Fixture.value(round) + "\(number % 10)"
      return #"{"store":"cloud","key":"\#(key)","type":"string","value":"\#(value)"}"# + "\n"
    }
    let path = Files.new(".jsonl")
    try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
    try Command.run([Command.kvsync, "import", "--quiet", pair.paths[0], path])
    try Files.remove(path)
  }
}

private func nothing(_ met: MetPair) -> Race {
  let race = Race(
    rounds: 5...41, seconds: 2, growth: .init(cost: "Merging where nothing is new", keys: met.keys))
  race.enter("Keepsake", met.copy) { pair in
    let devices = try pair.paths.map { try Device(path: $0) }
    return try nanoseconds { _ in try devices[0].merge(with: devices[1]) }
  }
  race.enter(each, met.copy) { pair in
    let none = "FROM sender.entry WHERE lseq > (SELECT max(lseq) FROM sender.entry)"
    return try nanoseconds { _ in
      try pair.upsert(none)
      try pair.upsert(none, from: 1, into: 0)
    }
  }
  race.row("nothing to do, \(Scale.name(met.keys)) keys", "Keepsake", beside: [each])
  return race
}

/// With opening the files.
private func changes(_ met: MetPair) -> Race {
  let race = Race(
    rounds: 3...31, seconds: 4, growth: .init(cost: "Merging 1,000 changes", keys: met.keys))
  race.enter("Keepsake", met.copy) { pair in
    _ = try met.change(pair)
    return try nanoseconds { _ in try pair.merge() }
  }
  race.enter(one, met.copy) { pair in
    let before = try met.change(pair)
    return try nanoseconds { _ in
      try pair.upsert("FROM sender.entry INDEXED BY entry_lseq WHERE lseq > \(before)")
    }
  }
  race.row(
    "\(Scale.name(met.changed)) changes in \(Scale.name(met.keys)) keys", "Keepsake", beside: [one])
  return race
}
